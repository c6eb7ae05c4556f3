package agent

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestCodexInner: the call that the code of an exec makes, in the forms that are recorded.
func TestCodexInner(t *testing.T) {
	for code, want := range map[string]struct {
		tool string
		args map[string]any
	}{
		`const r = await tools.exec_command({cmd:"sed -n '1,9p' \"a b\"\n","workdir":"/w","yield_time_ms":100}); text(r.output)`: {
			"exec_command", map[string]any{"cmd": "sed -n '1,9p' \"a b\"\n", "workdir": "/w", "yield_time_ms": 100.0}},
		"text((await tools.exec_command({\n  \"cmd\": `rg \\`x\\` 'y'`, tty: true, b: 1})).output)":                                     {"exec_command", map[string]any{"cmd": "rg `x` 'y'"}},
		`const patch = "*** Begin Patch\n*** Update File: a.go\n@@\n-\u0061\n+b\n*** End Patch"; text(await tools.apply_patch(patch));`: {"apply_patch", map[string]any{"input": "*** Begin Patch\n*** Update File: a.go\n@@\n-a\n+b\n*** End Patch"}},
		`await tools.apply_patch('x')`:                         {"apply_patch", map[string]any{"input": "x"}},
		`tools.update_plan({plan: [{step: "a"}]})`:             {"update_plan", map[string]any{}},
		`tools.exec_command({cmd: command})`:                   {"exec_command", map[string]any{}},
		`tools.exec_command({cmd: "never ends`:                 {"exec_command", map[string]any{}},
		`tools.a({x: "1"}); tools.b({x: "2"})`:                 {},
		`text("no call")`:                                      {},
		`tools.write_stdin({session_id: 7, chars: ''})`:        {"write_stdin", map[string]any{"session_id": 7.0, "chars": ""}},
		`await tools.apply_patch(build())`:                     {"apply_patch", map[string]any{}},
		"tools.exec_command({cmd: \"a\\\nb\", workdir: '\\'})": {"exec_command", map[string]any{"cmd": nil}},
	} {
		tool, args, ok := CodexInner(code)
		assert.Equal(t, want.tool, tool, code)
		assert.Equal(t, want.args, args, code)
		assert.Equal(t, want.tool != "", ok, code)
	}
}
