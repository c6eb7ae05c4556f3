package initcmd

import (
	"bytes"
	"context"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
	"github.com/mcp-pruner/mcp-pruner/runnerfsm/setup"
)

func TestInitWithoutAClient(t *testing.T) {
	dir := t.TempDir()
	code, _, stderr := verb(t, dir, "--yes")
	require.Equal(t, 2, code)
	require.Contains(t, stderr, "no client is found")

	dir = configured(t)
	before := filesBelow(t, dir)
	code, _, stderr = verb(t, dir)
	require.Equal(t, 2, code)
	require.Contains(t, stderr, "found claude, codex, opencode: name one, or --yes sets up what pays")
	require.Equal(t, before, filesBelow(t, dir), "nothing was changed")

	code, stdout, stderr := verb(t, dir, "--yes")
	require.Zero(t, code, stderr)
	assert.Contains(t, stdout, "Gemini CLI ("+filepath.Join(dir, ".gemini")+") is left out")
	assert.Contains(t, stdout, "On now: Claude Code (hooks); Codex (hooks); opencode (hooks).")
	assert.Contains(t, stdout, TrySentence)
	assert.Contains(t, stdout, "mcp-pruner uninstall for everything")
	assert.NotContains(t, stdout, "[y/N]")
	require.Equal(t, 1, strings.Count(stdout, "To see it work"))
}

// TestInitOfAnEditor: an editor has only our server, so that its user is neither sent to gain, which counts what hooks cut, nor to
// context; its file gets back its bytes.
func TestInitOfAnEditor(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, ".cursor", "mcp.json")
	write(t, file, "{\n\t\"mcpServers\" : { }}")
	before := filesBelow(t, dir)
	code, stdout, stderr := verb(t, dir, "cursor")
	require.Zero(t, code, stderr)
	assert.Contains(t, stdout, "On now: Cursor (mcp). It works in sessions that begin from now on.\nTo see it work, paste this into the client:\n  With the tool bash of the server pruner: Run")
	assert.NotContains(t, stdout, "mcp-pruner gain")
	assert.NotContains(t, stdout, "mcp-pruner context")
	code, _, stderr = verb(t, dir, "cursor", "--uninstall")
	require.Zero(t, code, stderr)
	assert.Equal(t, before, filesBelow(t, dir))
	code, _, stderr = verb(t, dir, "cursor", "--hooks")
	require.Equal(t, 2, code)
	assert.Contains(t, stderr, "Cursor has no hooks that replace results; --mcp adds our tools")
}

// TestPicked: Enter takes what pays, all takes everything.
func TestPicked(t *testing.T) {
	all := []choice{{line: "a"}, {line: "b"}, {line: "c"}}
	for answer, want := range map[string]string{"\n": "ab", "y\n": "ab", "all": "abc", "2\n": "b", "3, 1\r\n": "ca", "1 1": "a"} {
		chosen, err := picked(all, all[:2], answer)
		require.NoError(t, err, answer)
		got := ""
		for _, c := range chosen {
			got += c.line
		}
		require.Equal(t, want, got, answer)
	}
	for _, answer := range []string{"n\n", "none", "4", "0", "-1", "x"} {
		_, err := picked(all, all, answer)
		require.Error(t, err, answer)
	}
	_, err := picked(all, nil, "\n")
	require.Error(t, err, "nothing pays")
}

// TestUninstallOfEverything proves that uninstall gives every file the bytes that it had, whatever was installed.
func TestUninstallOfEverything(t *testing.T) {
	dir := configured(t)
	write(t, filepath.Join(dir, ".claude", "settings.json"), "{\n\t\"statusLine\" : {\"type\": \"command\", \"command\":\"date '+%H' | cat\", \"padding\": 0}, \"model\": \"opus\"}\n")
	before := filesBelow(t, dir)
	for _, args := range [][]string{
		{"claude", "--hooks", "--mcp", "--proxy", "--statusline", "--allow-recover"}, {"codex", "--hooks", "--mcp", "--allow-recover"},
		{"gemini", "--hooks", "--mcp", "--allow-recover"}, {"opencode", "--hooks", "--mcp", "--proxy"},
	} {
		code, _, stderr := verb(t, dir, args...)
		require.Zero(t, code, "%v: %s", args, stderr)
	}
	settings := filesBelow(t, dir)[filepath.Join(dir, ".claude", "settings.json")]
	assert.Contains(t, settings, ` statusline --first 'date '\\''+%H'\\'' | cat'`)
	var out, stderr bytes.Buffer
	p := command.Process{Env: []string{"HOME=" + dir}, Stdout: &out, Stderr: &stderr}
	require.Zero(t, command.Verb(context.Background(), UninstallCommand(p, nothingMore, nothingMore), p), stderr.String())
	after := filesBelow(t, dir)
	for path, text := range before {
		assert.Equal(t, text, after[path], path)
		delete(after, path)
	}
	for path := range after {
		assert.Contains(t, path, filepath.Join(".local", "state", "mcp-pruner"), "only data of the user stays")
	}
	if len(after) > 0 {
		assert.Contains(t, out.String(), "These stay")
	}
}

func TestStatusLine(t *testing.T) {
	dir := t.TempDir()
	h := home{Home: setup.Home{Lookup: func(name string) (string, bool) { return dir, name == "HOME" }}, system: "linux", path: "/opt/my tools/mcp-pruner"}
	all, err := h.pieces("claude")
	require.NoError(t, err)
	p := all[len(all)-1]
	require.Equal(t, statusLine, p.kind)
	const own = `{"statusLine": {"type": "command", "command": "~/line.sh; echo 'x y'"}}`
	for before, want := range map[string]string{
		`{}`: `"command": "'/opt/my tools/mcp-pruner' statusline"`,
		own:  `"command": "'/opt/my tools/mcp-pruner' statusline --first '~/line.sh; echo '\\''x y'\\'''"`,
	} {
		after, err := p.install([]byte(before))
		require.NoError(t, err)
		require.Contains(t, strings.ReplaceAll(string(after), `":"`, `": "`), want)
		again, err := p.install(after)
		require.NoError(t, err)
		require.Equal(t, string(after), string(again))
		require.True(t, p.present(after))
		require.NoError(t, p.check([]byte(before), after))
		back, err := p.remove(after)
		require.NoError(t, err)
		require.False(t, p.present(back))
		if before == own {
			require.Equal(t, before, string(back))
		}
	}
	_, err = p.install([]byte(`{"statusLine": {"type": "static", "text": "x"}}`))
	require.ErrorContains(t, err, "is no command")
	for _, foreign := range []string{`{"statusLine": {"type": "command", "command": "mcp-pruner statusline; rm x"}}`, `{"statusLine": {"type": "command", "command": "x statusline"}}`} {
		require.False(t, p.present([]byte(foreign)), foreign)
	}
}

// nothingMore is for an uninstall of what init put in alone.
func nothingMore(*cobra.Command, io.Writer) error { return nil }
