package initcmd

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
)

func verb(t *testing.T, dir string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	p := command.Process{Args: args, Env: []string{"HOME=" + dir}, Stdout: &out, Stderr: &err}
	code = command.Verb(context.Background(), Command(p, nil), p)
	return code, out.String(), err.String()
}

// filesBelow returns everything below a folder.
func filesBelow(t *testing.T, dir string) map[string]string {
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

// configured is a home with configurations that have foreign entries, and comments where the client accepts them.
func configured(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	write(t, filepath.Join(dir, ".claude", "settings.json"), "{\n  \"model\": \"opus\",\n\n  \"hooks\": {\"PostToolUse\": [{\"matcher\": \"Edit\", \"hooks\": [{\"type\": \"command\", \"command\": \"fmt\"}]}]}\n}\n")
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
		{"claude", "--allow-recover"}, {"claude", "--hooks", "--mcp", "--proxy", "--allow-recover"}, {"codex", "--allow-recover"},
		{"gemini", "--hooks", "--allow-recover"}, {"opencode", "--allow-recover"},
		{"gemini", "--hooks"}, {"gemini", "--hooks", "--mcp"}, {"opencode"}, {"opencode", "--hooks", "--mcp", "--proxy"},
	} {
		for name, dir := range map[string]string{"configured": configured(t), "new home": t.TempDir()} {
			t.Run(name, func(t *testing.T) {
				before := filesBelow(t, dir)
				code, _, stderr := verb(t, dir, args...)
				require.Equal(t, 0, code, stderr)
				installed := filesBelow(t, dir)
				require.NotEqual(t, before, installed)
				for path := range installed {
					require.NotContains(t, path, ".mcp-pruner-new", "a new file needs no second file beside it")
				}
				code, stdout, _ := verb(t, dir, args...)
				require.Equal(t, 0, code)
				require.Contains(t, stdout, "was there already")
				require.Equal(t, installed, filesBelow(t, dir), "twice is once")
				code, stdout, _ = verb(t, dir, args[0], "--show")
				require.Equal(t, 0, code)
				require.Contains(t, stdout, " installed")
				code, _, stderr = verb(t, dir, args[0], "--uninstall")
				require.Equal(t, 0, code, stderr)
				require.Equal(t, before, filesBelow(t, dir))
			})
		}
	}
}

// TestMovedProgram: init changes the path of a program that was somewhere else, and nothing more; then it can still be
// undone byte for byte. doctor is told which program hooks start.
func TestMovedProgram(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	const old = "/old/mcp-pruner_0.1.0_linux_amd64/mcp-pruner"
	for _, args := range [][]string{{"claude", "--hooks", "--mcp"}, {"codex", "--hooks", "--mcp"}, {"gemini", "--hooks", "--mcp"}, {"opencode", "--hooks", "--mcp"}} {
		dir := configured(t)
		before := filesBelow(t, dir)
		code, _, stderr := verb(t, dir, args...)
		require.Zero(t, code, stderr)
		installed := filesBelow(t, dir)
		moved := 0
		for path, text := range installed {
			if strings.Contains(text, self) {
				write(t, path, strings.ReplaceAll(text, self, old))
				moved++
			}
		}
		require.Equal(t, 2, moved+strings.Count(args[0], "gemini"), "%v: a file for hooks and one for the server; gemini has one for both", args)
		hooked := AllHooked(command.Process{Env: []string{"HOME=" + dir}})
		require.Len(t, hooked, 1)
		require.Equal(t, old, hooked[0].Program)

		code, stdout, stderr := verb(t, dir, args...)
		require.Zero(t, code, stderr)
		require.Contains(t, stdout, "installed")
		require.Equal(t, installed, filesBelow(t, dir), "%v", args)
		code, _, stderr = verb(t, dir, append(args[:1:1], "--uninstall")...)
		require.Zero(t, code, stderr)
		require.Equal(t, before, filesBelow(t, dir), "%v", args)
	}
}

// TestStatusIsNoAnswer: Gemini CLI takes the status of a hook whose program is gone for a wish to replace the result. The command that
// init writes ends with 0 all the same, and one that an earlier version wrote is mended.
func TestStatusIsNoAnswer(t *testing.T) {
	dir := configured(t)
	before := filesBelow(t, dir)
	args := []string{"gemini", "--hooks", "--only", "read_file"}
	code, _, stderr := verb(t, dir, args...)
	require.Zero(t, code, stderr)
	path := filepath.Join(dir, ".gemini", "settings.json")
	text := filesBelow(t, dir)[path]
	require.Contains(t, text, " hook gemini --replace --only read_file"+unharmed+`"`)
	self, err := os.Executable()
	require.NoError(t, err)
	write(t, path, strings.NewReplacer(unharmed, "", self, "/old/mcp-pruner").Replace(text))
	code, _, stderr = verb(t, dir, args[:2]...)
	require.Zero(t, code, stderr)
	require.Equal(t, text, filesBelow(t, dir)[path])
	code, _, stderr = verb(t, dir, "gemini", "--uninstall")
	require.Zero(t, code, stderr)
	require.Equal(t, before, filesBelow(t, dir))
}

// npx may empty its cache, and a hook would then start nothing: init says so. A link there to a program that is somewhere
// else is not used.
func TestNpxCacheIsNoPlaceToStay(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	bin := filepath.Join(t.TempDir(), ".npm", "_npx", "1", "node_modules", ".bin")
	require.NoError(t, os.MkdirAll(bin, 0o700))
	require.NoError(t, os.Symlink(self, filepath.Join(bin, "mcp-pruner")))
	t.Setenv("PATH", bin)
	code, stdout, _ := verb(t, t.TempDir(), "claude")
	require.Zero(t, code)
	require.NotContains(t, stdout, "npx")

	var out bytes.Buffer
	home{path: filepath.Join(bin, "mcp-pruner"), system: "linux"}.warnOfNpx(&out)
	require.Contains(t, out.String(), "is in npx's cache, which npx may empty. To keep it, give npm install --global the package that npx was given, then init once more.\n")
}

// A command that the user wrote, or that PATH finds, stays.
func TestOtherCommandsStay(t *testing.T) {
	for _, command := range []string{"mcp-pruner hook claude", "env LANG=C /opt/mcp-pruner hook claude", "/opt/mcp-pruner hook claude | tee log"} {
		dir := t.TempDir()
		path := filepath.Join(dir, ".claude", "settings.json")
		write(t, path, `{"hooks": {"PostToolUse": [{"hooks": [{"type": "command", "command": "`+command+`"}]}]}}`)
		code, _, stderr := verb(t, dir, "claude")
		require.Zero(t, code, stderr)
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Contains(t, string(text), `"command": "`+command+`"`)
	}
}

func TestOnePieceAfterTheOther(t *testing.T) {
	dir := configured(t)
	before := filesBelow(t, dir)
	for _, args := range [][]string{{"claude", "--proxy"}, {"claude", "--hooks"}, {"claude", "--uninstall", "--proxy"}, {"claude", "--uninstall"}} {
		code, _, stderr := verb(t, dir, args...)
		require.Equal(t, 0, code, stderr)
	}
	require.Equal(t, before, filesBelow(t, dir))
}

func TestForeignEntriesAreRefusedAndKept(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, ".claude.json")
	write(t, file, `{"mcpServers":{"pruner":{"command":"something-else"}}}`)
	before := filesBelow(t, dir)
	code, _, stderr := verb(t, dir, "claude", "--mcp")
	require.Equal(t, 1, code)
	require.Contains(t, stderr, "mcpServers.pruner")
	code, _, _ = verb(t, dir, "claude", "--uninstall")
	require.Equal(t, 0, code)
	require.Equal(t, before, filesBelow(t, dir))
}

func TestWrongUsage(t *testing.T) {
	for _, args := range [][]string{{}, {"emacs"}, {"gemini"}, {"gemini", "--proxy"}, {"claude", "--show", "--uninstall"}} {
		code, stdout, _ := verb(t, t.TempDir(), args...)
		require.Equal(t, 2, code, args)
		require.Empty(t, stdout)
	}
}
