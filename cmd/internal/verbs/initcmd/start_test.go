package initcmd

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/runnerfsm/setup"
)

// Claude Code starts the proxy by hooks beside the user's own, and a second init changes nothing.
func TestTheClientStartsTheProxy(t *testing.T) {
	dir := configured(t)
	before := filesBelow(t, dir)
	for range 2 {
		code, stdout, stderr := verb(t, dir, "claude", "--proxy")
		require.Equal(t, 0, code, stderr)
		assert.Contains(t, stdout, "The client starts the proxy itself")
	}
	settings := filepath.Join(dir, ".claude", "settings.json")
	text, err := os.ReadFile(settings)
	require.NoError(t, err)
	assert.Equal(t, 2, strings.Count(string(text), " proxy --ensure --port 8787"))
	moved := bytes.ReplaceAll(text, []byte(" proxy --ensure"), []byte("-old/mcp-pruner proxy --ensure"))
	require.NoError(t, os.WriteFile(settings, moved, 0o600))
	code, _, stderr := verb(t, dir, "claude", "--proxy")
	require.Equal(t, 0, code, stderr)
	again, err := os.ReadFile(settings)
	require.NoError(t, err)
	assert.Equal(t, string(text), string(again), "the program that was moved is found again")
	code, _, stderr = verb(t, dir, "claude", "--proxy", "--hooks")
	require.Equal(t, 0, code, stderr)
	code, _, stderr = verb(t, dir, "claude", "--hooks", "--uninstall")
	require.Equal(t, 0, code, stderr)
	left, err := os.ReadFile(settings)
	require.NoError(t, err)
	assert.Equal(t, 2, strings.Count(string(left), " proxy --ensure --port 8787"), "they belong to the proxy")
	code, _, stderr = verb(t, dir, "claude", "--uninstall")
	require.Equal(t, 0, code, stderr)
	after, err := os.ReadFile(settings)
	require.NoError(t, err)
	assert.JSONEq(t, before[settings], string(after))
}

// The unit of systemd and the agent of launchd are what those accept, whatever the program's path is.
func TestServices(t *testing.T) {
	program := filepath.Join(t.TempDir(), `my $HOME %h & <dir>`, "mcp-pruner")
	require.NoError(t, os.MkdirAll(filepath.Dir(program), 0o700))
	require.NoError(t, os.WriteFile(program, []byte("#!/bin/sh\n"), 0o700))
	home := func(system string) home {
		return home{Home: setup.Home{Lookup: func(name string) (string, bool) { return map[string]string{"HOME": "/home/me"}[name], name == "HOME" }}, system: system, path: program}
	}
	path, unit, enable := home("linux").service()
	assert.Equal(t, filepath.FromSlash("/home/me/.config/systemd/user/mcp-pruner-proxy.service"), path)
	assert.Equal(t, "systemctl --user enable --now mcp-pruner-proxy.service", enable)
	if analyze, err := exec.LookPath("systemd-analyze"); err == nil {
		file := filepath.Join(t.TempDir(), filepath.Base(path))
		require.NoError(t, os.WriteFile(file, []byte(unit), 0o600))
		cmd := exec.Command(analyze, "verify", "--user", "--man=no", file)
		cmd.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+t.TempDir())
		out, err := cmd.CombinedOutput()
		assert.NoError(t, err, string(out))
		assert.NotContains(t, string(out), filepath.Base(path), "it names what is wrong in the file")
	}
	path, plist, _ := home("darwin").service()
	assert.Equal(t, filepath.FromSlash("/home/me/Library/LaunchAgents/mcp-pruner.proxy.plist"), path)
	assert.Equal(t, []string{"mcp-pruner.proxy", program, "proxy", "--port", "8787"}, plistStrings(t, plist))
	path, _, _ = home("windows").service()
	assert.Empty(t, path)
}

// plistStrings parses a property list and returns its strings.
func plistStrings(t *testing.T, text string) (found []string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(text))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return found
		}
		require.NoError(t, err)
		if start, ok := token.(xml.StartElement); ok && start.Name.Local == "string" {
			var s string
			require.NoError(t, d.DecodeElement(&s, &start))
			found = append(found, s)
		}
	}
}
