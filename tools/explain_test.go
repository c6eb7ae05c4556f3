package tools

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestErrorsTeach: what a model is told of bad arguments names the right ones.
func TestErrorsTeach(t *testing.T) {
	all := newTools(t, Settings{})
	root := all["read"].Root
	for _, c := range []struct{ tool, args, want string }{
		{"read", `{"file_path":"a","offset":10,"limit":5}`, "read has no argument limit: use end_line; read has no argument offset: use start_line"},
		{"read", `{}`, "file_path is required"},
		{"read", `{"path":"a"}`, "file_path is required; read has no argument path: use file_path"},
		{"read", `{"file_path":"../x"}`, "file_path is outside the root " + root + ": only what is below it can be reached"},
		{"read", `{"file_path":"a\u0000b"}`, "file_path must not contain NUL"},
		{"read", `{"file_path":"a","start_line":5,"end_line":2}`, "start_line is after end_line"},
		{"read", `{"file_path":"a","start_line":"5"}`, "start_line wants an integer"},
		{"read", `{"file_path":"a","encoding":"latin1"}`, "encoding is one of [utf-8]"},
		{"bash", `{"command":"x","timeout":5}`, "bash has no argument timeout: use timeout_ms"},
		{"bash", `{"command":"x","timeout_ms":1e9}`, "timeout_ms is at most 300000"},
		{"bash", `{"command":"x","timeoutMs":5}`, "bash has no argument timeoutMs: use timeout_ms"},
		{"bash", `{"command":""}`, "command must not be empty"},
		{"bash", `{"command":"x","frob":1}`, "bash has no argument frob, only command, context_focus_question, cwd, env, max_output_bytes, timeout_ms"},
		{"grep", `{"pattern":"x","-i":true,"head_limit":3}`, "grep has no argument -i: use case_sensitive; grep has no argument head_limit: use max_matches"},
		{"grep", `{"pattern":"x","path":"a","paths":["b"]}`, "give path or paths, not both"},
		{"grep", `{"pattern":"x","output_mode":"lines"}`, "output_mode is one of [content files count]"},
	} {
		args := decode(t, c.args)
		_, issues := all[c.tool].Check(args)
		assert.NotEmpty(t, issues, c.args)
		assert.Equal(t, c.want, Explain(all[c.tool], args, issues), c.args)
	}
}
