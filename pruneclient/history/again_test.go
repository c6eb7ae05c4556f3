package history

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// parsed reads "Tool {arguments}".
func parsed(t *testing.T, call string) ToolCall {
	t.Helper()
	tool, text, _ := strings.Cut(call, " ")
	var args map[string]any
	require.NoError(t, json.Unmarshal([]byte(text), &args), call)
	return ParseCall(tool, args)
}

func TestTheSameCallAgain(t *testing.T) {
	for _, c := range []struct {
		earlier, later string
		same           bool
	}{
		{`Read {"file_path":"/r/a.go"}`, `Read {"file_path":"/r/a.go"}`, true},
		{`Read {"file_path":"/r/a.go"}`, `Read {"file_path":"/r/a.go","offset":700,"limit":400}`, true},
		{`Read {"file_path":"/r/a.go","offset":1,"limit":400}`, `Read {"file_path":"/r/a.go","offset":401,"limit":400}`, false},
		{`Read {"file_path":"/r/a.go"}`, `Bash {"command":"cat a.go"}`, true},
		{`Read {"file_path":"/r/a.go"}`, `Read {"file_path":"/r/b.go"}`, false},
		{`read {"file_path":"a","end_line":6,"context_focus_question":"q"}`, `read {"file_path":"./a","start_line":5,"end_line":6,"context_focus_question":"q"}`, true},
		{`read {"file_path":"a","end_line":6}`, `read {"file_path":"a","start_line":5,"end_line":8}`, false},
		{`read {"file_path":"a","end_line":6}`, `read {"file_path":"a","start_line":7}`, false},
		{`read {"file_path":"a","context_focus_question":"q"}`, `read {"file_path":"a","context_focus_question":"another"}`, false},
		{`Bash {"command":"go test ./...","description":"run"}`, `Bash {"command":"go test ./...","description":"again","timeout":9}`, true},
		{`Bash {"command":"go test ./..."}`, `Bash {"command":"go test ./x"}`, false},
		{`bash {"command":"ls"}`, `bash {"command":"ls","cwd":"sub"}`, false},
		{`bash {"command":"ls"}`, `bash {"command":"ls","env":{"A":"1"}}`, false},
		{`exec_command {"cmd":"ls -R"}`, `exec_command {"cmd":"ls -R","max_output_tokens":20000}`, true},
		{`Grep {"pattern":"a","output_mode":"content"}`, `Grep {"pattern":"a","output_mode":"content"}`, true},
		{`Grep {"pattern":"a"}`, `Grep {"pattern":"a","-A":30}`, false},
		{`Grep {"pattern":"a"}`, `Grep {"pattern":"a","path":"b"}`, false},
		{`mcp__docs__page {"name":"x"}`, `mcp__docs__page {"name":"x"}`, true},
		{`mcp__docs__page {"name":"x"}`, `mcp__docs__page {"name":"y"}`, false},
		{`mcp__docs__page {"name":"x"}`, `mcp__other__page {"name":"x"}`, false},
	} {
		assert.Equal(t, c.same, parsed(t, c.later).Again(parsed(t, c.earlier)), "%s then %s", c.earlier, c.later)
	}
}

// A call whose result was cut comes whole when it is made again, unless something may have changed the result in between.
func TestWhatChangesAResult(t *testing.T) {
	const tests, read = `Bash {"command":"go test ./..."}`, `Read {"file_path":"/r/a.go"}`
	for _, c := range []struct {
		cut, between string
		again        bool
	}{
		{tests, ``, true},
		{`Bash {"command":"./deploy.sh"}`, ``, true},
		{tests, `Read {"file_path":"/r/a.go"}`, true},
		{tests, `Bash {"command":"cd /r && git diff HEAD~1 2>&1 | head -50"}`, true},
		{tests, `Bash {"command":"mcp-pruner recover prn_3ddf8b97"}`, true},
		{tests, `WebFetch {"url":"https://example.org"}`, true},
		{tests, `Edit {"file_path":"/r/b.go","old_string":"a","new_string":"b"}`, false},
		{tests, `Bash {"command":"git checkout main"}`, false},
		{tests, `Bash {"command":"go run ./gen"}`, false},
		{tests, `Bash {"command":"echo x > a.go"}`, false},
		{tests, `Bash {"command":"find . -name '*.orig' -delete"}`, false},
		{tests, `Bash {"command":"sed -i s/a/b/ a.go"}`, false},
		{tests, `Bash {"command":"A=b python3 -m pytest -q"}`, true},
		{tests, `Bash {"command":"npx eslint --fix ."}`, false},
		{tests, `Task {"prompt":"mend it"}`, false},
		{read, `Edit {"file_path":"/r/b.go","old_string":"a","new_string":"b"}`, true},
		{read, `Edit {"file_path":"/r/a.go","old_string":"a","new_string":"b"}`, false},
		{read, `Write {"file_path":"a.go","content":"b"}`, false},
		{read, `apply_patch {"input":"*** Begin Patch\n*** Update File: a.go\n@@\n-x\n+y\n*** End Patch"}`, false},
		{read, `Bash {"command":"make generate"}`, false},
	} {
		var log Log
		call := parsed(t, c.cut)
		log.Use(call)
		assert.Empty(t, log.Decide(call, 5000, nil).Why, c.cut)
		log.Cut(call)
		if c.between != "" {
			log.Use(parsed(t, c.between))
		}
		assert.Equal(t, c.again, !log.Decide(call, 5000, nil).Prune, "%s, then %s", c.cut, c.between)
		log.Compact()
		assert.True(t, log.Decide(call, 5000, nil).Prune, "the agent has forgotten the cut result")
	}
}
