package setup

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestPluginAsks runs a plugin in Node: it gets the program's answer, and {} when the program prints none.
func TestPluginAsks(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil || runtime.GOOS == "windows" {
		t.Skip("needs Node and a shell")
	}
	dir := t.TempDir()
	program, plugin := filepath.Join(dir, "a program"), filepath.Join(dir, "plugin.mjs")
	code := "// a plugin\n\nconsole.log(JSON.stringify([await ask({ tool: \"x\" }), await ask(\"no JSON\")]))\n"
	require.NoError(t, os.WriteFile(program, []byte("#!/bin/sh\ncase \"$1 $2 $(cat)\" in 'hook opencode {\"tool\":\"x\"}') echo '{\"output\":\"short\"}' ;; *) echo oops ;; esac\n"), 0o700))
	require.NoError(t, os.WriteFile(plugin, []byte(Plugin("opencode", code, program)), 0o600))
	out, err := exec.Command(node, plugin).CombinedOutput()
	require.NoError(t, err, string(out))
	assert.JSONEq(t, `[{"output":"short"},{}]`, string(out))
}
