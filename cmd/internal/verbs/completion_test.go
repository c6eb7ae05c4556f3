package verbs

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
)

// TestCompletions: what the shells' completion scripts are told. They ask the program; ":0" allows files, ":4" does not.
func TestCompletions(t *testing.T) {
	for typed, want := range map[string]string{
		"init ":                     "claude codex gemini opencode copilot qwen cline kilo pi cursor vscode zed jetbrains :4",
		"init claude ":              ":4",
		"hook ":                     "claude codex gemini opencode copilot qwen cline kilo pi :4",
		"gateway init ":             "claude codex gemini opencode copilot qwen cline kilo cursor vscode zed jetbrains :4",
		"run --provider ":           "claude codex :4",
		"run --provider claude --t": "--trace --transport :4",
		"run --pruner ":             "embedded off :4",
		"run --transport ":          "stdio http :4",
		"fsm --format ":             "table mermaid dot json docs :4",
		"doctor ":                   ":4",
		"prune ":                    ":0",
		"trace verify ":             ":0",
		"gc get ":                   ":4",
		"in":                        "init :4",
	} {
		var out bytes.Buffer
		p := command.Process{Stdin: &bytes.Buffer{}, Stdout: &out, Stderr: &bytes.Buffer{}}
		p.Args = append([]string{"__complete"}, strings.Split(typed, " ")...)
		assert.Equal(t, command.OK, command.Execute(t.Context(), Root(p), p), typed)
		var got []string
		for line := range strings.Lines(out.String()) {
			word, _, _ := strings.Cut(strings.TrimSpace(line), "\t")
			if strings.HasPrefix(word, typed[strings.LastIndex(typed, " ")+1:]) || strings.HasPrefix(word, ":") {
				got = append(got, word)
			}
		}
		assert.Equal(t, want, strings.Join(got, " "), typed)
	}
}
