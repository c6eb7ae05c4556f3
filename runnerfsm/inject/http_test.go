package inject

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestHTTPCommand: this program needs a verb to serve HTTP, under whatever name it
// is found; others do not.
func TestHTTPCommand(t *testing.T) {
	dir, empty := t.TempDir(), t.TempDir()
	for _, name := range []string{"mcp-pruner", "mcp-pruner-1.2", "jeeves-mcp-pruner", "renamed", "other", "server.mjs"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), nil, 0o755))
	}
	in := func(name string) string { return filepath.Join(dir, name) }
	for _, c := range []struct {
		name, given, beside string
		want                []string
	}{
		{"beside", "", dir, []string{in("mcp-pruner"), "serve"}},
		{"itself, when there is no other", "", empty, []string{in("renamed"), "serve"}},
		{"a version", in("mcp-pruner-1.2"), dir, []string{in("mcp-pruner-1.2"), "serve"}},
		{"itself, by its other name", in("renamed"), dir, []string{in("renamed"), "serve"}},
		{"one that serves only HTTP", in("jeeves-mcp-pruner"), dir, []string{in("jeeves-mcp-pruner")}},
		{"another", in("other"), dir, []string{in("other")}},
		{"a script", in("server.mjs"), dir, []string{"node", in("server.mjs")}},
	} {
		s := Settings{Env: []string{"JEEVES_MCP_PRUNER_PATH=" + c.given}, Root: "/r", Beside: c.beside, Self: in("renamed")}
		command, err := s.HTTPCommand()
		require.NoError(t, err, c.name)
		assert.Equal(t, append(c.want, "--root", "/r", "--host", "127.0.0.1", "--port", "0"), command, c.name)
	}
	_, err := Settings{Env: []string{"JEEVES_MCP_PRUNER_PATH=" + in("missing")}, Self: in("renamed")}.HTTPCommand()
	assert.ErrorContains(t, err, "no such file", "one that is named is not replaced")
}
