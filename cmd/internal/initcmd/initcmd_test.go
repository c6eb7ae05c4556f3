package initcmd

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"mcp-pruner/cmd/internal/command"
)

func verb(t *testing.T, dir string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	p := command.Process{Args: args, Env: []string{"HOME=" + dir}, Stdout: &out, Stderr: &err}
	code = command.Verb(context.Background(), Command(p), p)
	return code, out.String(), err.String()
}

// files is everything below a folder.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		all[path] = string(text)
		return err
	}))
	return all
}

func write(t *testing.T, path, text string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
}

// configured is a home with configurations that have comments and foreign entries.
func configured(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	write(t, filepath.Join(dir, ".claude", "settings.json"), "{\n  \"model\": \"opus\", // best\n  \"hooks\": {\"PostToolUse\": [{\"matcher\": \"Edit\", \"hooks\": [{\"type\": \"command\", \"command\": \"fmt\"}]}]},\n}\n")
	write(t, filepath.Join(dir, ".claude.json"), `{"numStartups":3,"mcpServers":{"other":{"command":"x"}}}`)
	write(t, filepath.Join(dir, ".codex", "config.toml"), "model = \"gpt-5\" # mine\n\n[mcp_servers.other]\ncommand = \"x\"")
	write(t, filepath.Join(dir, ".codex", "hooks.json"), "{\"hooks\": {\"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"bell\"}]}]}}\n")
	write(t, filepath.Join(dir, ".gemini", "settings.json"), "{\n\t\"theme\": \"dark\" /* eyes */\n}\n")
	write(t, filepath.Join(dir, ".config", "opencode", "opencode.jsonc"), "{\n  // mine\n  \"mcp\": {}\n}\n")
	return dir
}

func TestUninstallIsByteForByte(t *testing.T) {
	for _, args := range [][]string{
		{"claude"}, {"claude", "--hooks", "--mcp", "--proxy"}, {"codex"}, {"codex", "--hooks", "--mcp"},
		{"gemini", "--hooks"}, {"gemini", "--hooks", "--mcp"}, {"opencode"}, {"opencode", "--hooks", "--mcp", "--proxy"},
	} {
		for name, dir := range map[string]string{"configured": configured(t), "new home": t.TempDir()} {
			t.Run(name, func(t *testing.T) {
				before := files(t, dir)
				code, _, stderr := verb(t, dir, args...)
				require.Equal(t, 0, code, stderr)
				installed := files(t, dir)
				require.NotEqual(t, before, installed)
				code, stdout, _ := verb(t, dir, args...)
				require.Equal(t, 0, code)
				require.Contains(t, stdout, "was there already")
				require.Equal(t, installed, files(t, dir), "twice is once")
				code, stdout, _ = verb(t, dir, args[0], "--show")
				require.Equal(t, 0, code)
				require.Contains(t, stdout, " installed")
				code, _, stderr = verb(t, dir, args[0], "--uninstall")
				require.Equal(t, 0, code, stderr)
				require.Equal(t, before, files(t, dir))
			})
		}
	}
}

func TestOnePieceAfterTheOther(t *testing.T) {
	dir := configured(t)
	before := files(t, dir)
	for _, args := range [][]string{{"claude", "--proxy"}, {"claude", "--hooks"}, {"claude", "--uninstall", "--proxy"}, {"claude", "--uninstall"}} {
		code, _, stderr := verb(t, dir, args...)
		require.Equal(t, 0, code, stderr)
	}
	require.Equal(t, before, files(t, dir))
}

func TestForeignEntriesAreRefusedAndKept(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, ".claude.json")
	write(t, file, `{"mcpServers":{"pruner":{"command":"something-else"}}}`)
	before := files(t, dir)
	code, _, stderr := verb(t, dir, "claude", "--mcp")
	require.Equal(t, 1, code)
	require.Contains(t, stderr, "mcpServers.pruner")
	code, _, _ = verb(t, dir, "claude", "--uninstall")
	require.Equal(t, 0, code)
	require.Equal(t, before, files(t, dir))
}

func TestWrongUsage(t *testing.T) {
	for _, args := range [][]string{{}, {"emacs"}, {"gemini"}, {"codex", "--proxy"}, {"claude", "--show", "--uninstall"}} {
		code, stdout, _ := verb(t, t.TempDir(), args...)
		require.Equal(t, 2, code, args)
		require.Empty(t, stdout)
	}
}
