package history

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// A tool of the name of a shell or of ours is one if its calls have the parameter for it. Where the parameters are not known, the name counts.
func TestAToolIsAShellByItsArguments(t *testing.T) {
	for _, c := range []struct {
		tool     string
		args     map[string]any
		commands bool
		own      string
	}{
		{"shell", nil, true, ""},
		{"shell", map[string]any{"command": []any{"bash", "-lc", "ls"}}, true, ""},
		{"exec_command", map[string]any{"cmd": "ls"}, true, ""},
		{"shell", map[string]any{"q": "shells of turtles"}, false, ""},
		{"mcp__pruner__read", map[string]any{"file_path": "a.go"}, false, "mcp__pruner__read file_path"},
		{"mcp__pruner__read", map[string]any{"url": "x"}, false, ""},
	} {
		var log Log
		log.Ran(c.tool, c.args)
		assert.Equal(t, Reach{Commands: c.commands, Tool: c.own}.Recovers(), log.Reach(ToolCall{}).Recovers(), "%v", c)
		assert.Equal(t, c.own, log.Reach(ToolCall{}).Tool, "%v", c)
		assert.Equal(t, c.commands, new(Log).Reach(ParseCall(c.tool, c.args)).Commands, "%v", c)
	}
}
