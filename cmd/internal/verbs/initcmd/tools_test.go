package initcmd

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/runnerfsm/setup"
)

// TestHooksOfSomeTools proves that init writes which tools hooks may replace, keeps that, and changes it.
func TestHooksOfSomeTools(t *testing.T) {
	for client, want := range map[string][2]string{
		"claude":   {`hook claude --except Read,github"`, `hook claude"`},
		"codex":    {`hook codex --except Read,github"`, `hook codex"`},
		"opencode": {`["hook", "opencode", "--except", "Read,github"]`, `["hook", "opencode"]`},
	} {
		dir := t.TempDir()
		lookup := func(name string) (string, bool) { return dir, name == "HOME" }
		var text []byte
		write := func(selected *tools) string {
			h := home{Home: setup.Home{Lookup: lookup}, system: "linux", path: "/opt/mcp-pruner", tools: selected}
			all, err := h.pieces(client)
			require.NoError(t, err)
			text, err = all[0].install(text)
			require.NoError(t, err)
			require.True(t, all[0].present(text))
			require.Equal(t, "/opt/mcp-pruner", all[0].program(text))
			return string(text)
		}
		selected, err := newTools(nil, []string{"Read", "github"}, true)
		require.NoError(t, err)
		require.Contains(t, write(selected), want[0], client)
		require.Contains(t, write(nil), want[0], "init once more keeps it")
		require.NotContains(t, string(text), want[1], client)
		require.Contains(t, write(&tools{}), want[1], client)
		require.NotContains(t, string(text), "--except", client)
	}
	for _, bad := range []string{"x'; rm", "", "$(x)", "a b"} {
		_, err := newTools([]string{bad}, nil, true)
		require.Error(t, err, bad)
	}
}

// TestMatcherOfEarlierVersions proves that init widens a matcher that it wrote itself, and no other.
func TestMatcherOfEarlierVersions(t *testing.T) {
	dir := t.TempDir()
	h := home{Home: setup.Home{Lookup: func(name string) (string, bool) { return dir, name == "HOME" }}, system: "linux", path: "/opt/mcp-pruner"}
	all, err := h.pieces("claude")
	require.NoError(t, err)
	for was, is := range map[[2]string]string{
		{"SessionStart", "compact"}: "startup|resume|clear|compact", {"SessionStart", "startup"}: "startup",
		{"PostToolUse", "Bash|Read|Grep|mcp__.*"}: "Bash|PowerShell|Read|Grep|mcp__.*", {"PostToolUseFailure", "Bash"}: "Bash|PowerShell", {"PostToolUse", "Bash"}: "Bash",
	} {
		text, err := all[0].install([]byte(`{"hooks":{"` + was[0] + `":[{"matcher":"` + was[1] + `","hooks":[{"type":"command","command":"/old/mcp-pruner hook claude"}]}]}}`))
		require.NoError(t, err)
		require.Contains(t, string(text), `"matcher":"`+is+`"`)
		require.NotContains(t, string(text), "/old/")
	}
}
