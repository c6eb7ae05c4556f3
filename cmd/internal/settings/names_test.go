package settings_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/settings"
	"github.com/mcp-pruner/mcp-pruner/runnerfsm/inject"
	"github.com/mcp-pruner/mcp-pruner/tools"
)

// Every tool of the toolset core can be named in MCP_PRUNER_TOOLS, and a run lets the client use it.
func TestEveryToolCanBeNamed(t *testing.T) {
	for _, name := range tools.Names() {
		s, _, err := settings.Load(settings.Stdio, nil, settings.FromEnv([]string{"MCP_PRUNER_TOOLS=" + name}))
		require.NoError(t, err)
		assert.Equal(t, []string{name}, s.Tools)
	}
	assert.Equal(t, tools.Names(), inject.Settings{}.Tools(true))
	rows := settings.Rows(settings.Stdio)
	row := rows[slices.IndexFunc(rows, func(r settings.Row) bool { return r.Name == "MCP_PRUNER_TOOLS" })]
	assert.Equal(t, "names out of read, bash, grep separated by commas", row.Allowed)
}

// Passwords are replaced, also in addresses that are no valid URLs; paths stay.
func TestShown(t *testing.T) {
	for value, want := range map[string]string{
		"http://u:p@h/x": "http://xxxxx@h/x", "http://u:p/w@h": "http://xxxxx@h", "u:p@h:80": "xxxxx@h:80", "//u:p@h": "//xxxxx@h", "http://h:80/prune": "http://h:80/prune",
		"/node:modules/@scope/x": "/node:modules/@scope/x", `C:\x\@scope\y`: `C:\x\@scope\y`, "./a:b@c": "./a:b@c", "embedded": "embedded",
	} {
		assert.Equal(t, want, settings.Shown(value))
	}
}
