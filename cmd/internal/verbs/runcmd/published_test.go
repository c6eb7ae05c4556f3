package runcmd

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mcp-pruner/mcp-pruner/runnerfsm/inject"
)

// The entry for a program in npx's cache, on every system.
func TestPublished(t *testing.T) {
	const unixCache, windowsCache = "/home/me/.npm/_npx/1/node_modules/.bin/mcp-pruner", `C:\Users\me\AppData\Local\npm-cache\_npx\1\mcp-pruner.exe`
	for _, c := range []struct {
		system, command string
		want            []string
	}{
		{"linux", unixCache, []string{"npx", "-y", "mcp-pruner"}},
		{"darwin", unixCache, []string{"npx", "-y", "mcp-pruner"}},
		{"windows", windowsCache, []string{"cmd", "/c", "npx", "-y", "mcp-pruner"}},
		{"windows", "C:/Users/me/AppData/Local/npm-cache/_npx/1/mcp-pruner.exe", []string{"cmd", "/c", "npx", "-y", "mcp-pruner"}},
		{"linux", "/usr/bin/mcp-pruner", []string{"/usr/bin/mcp-pruner"}},
		{"linux", `/odd\_npx\mcp-pruner`, []string{`/odd\_npx\mcp-pruner`}},
		{"windows", `C:\bin\mcp-pruner.exe`, []string{`C:\bin\mcp-pruner.exe`}},
	} {
		got := published(inject.Server{Command: c.command, Env: map[string]string{"A": "b"}}, c.system)
		assert.Equal(t, c.want, append([]string{got.Command}, got.Args...), c.system)
		assert.Equal(t, map[string]string{"A": "b"}, got.Env, "its settings stay")
	}
}
