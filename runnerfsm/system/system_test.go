package system

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

// What a run finds on Windows: programs without execute permission, by their extension, on a PATH that is spelled Path.
func TestProgramsOnWindows(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"mcp-pruner.exe", "claude", "claude.cmd", "codex", "node.ps1"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), nil, 0o644))
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "runs"), nil, 0o755))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "folder.exe"), 0o755))
	at := func(name string) string { return filepath.Join(dir, name) }
	windows := System{"windows", []string{"PATH=elsewhere", "Path=relative" + string(os.PathListSeparator) + dir}}
	for program, want := range map[string]string{
		"mcp-pruner": at("mcp-pruner.exe"), "mcp-pruner.exe": at("mcp-pruner.exe"),
		"claude": at("claude.cmd"), "codex": "", "node": "", "folder": "", "runs": "",
	} {
		assert.Equal(t, want, windows.LookPath(program), program)
	}
	windows.env = append(windows.env, "PATHEXT=.PS1;.EXE")
	assert.Equal(t, at("node.ps1"), windows.LookPath("node"))
	assert.Empty(t, windows.LookPath("claude"))

	for _, name := range []string{"linux", "darwin"} {
		unix := System{name, []string{"PATH=" + dir, "Path=elsewhere"}}
		assert.Equal(t, at("runs"), unix.LookPath("runs"), name)
		assert.Empty(t, unix.LookPath("mcp-pruner"), name)
		assert.Empty(t, unix.LookPath("mcp-pruner.exe"), name)
	}
}

// Where a run looks for Claude's settings. Any of them may deny the shell, so none may be missed.
func TestClaudeSettingsOfEverySystem(t *testing.T) {
	env := []string{"USERPROFILE=/profile", "ProgramData=/data", "programfiles=/programs"}
	unix := []string{"/etc/claude-code/managed-settings.json", "/Library/Application Support/ClaudeCode/managed-settings.json"}
	for name, want := range map[string]struct {
		home    string
		managed []string
	}{
		"linux":   {"", unix},
		"darwin":  {"", unix},
		"windows": {"/profile", []string{"/programs/ClaudeCode/managed-settings.json", `C:\Program Files/ClaudeCode/managed-settings.json`, "/data/ClaudeCode/managed-settings.json"}},
	} {
		s := System{name, env}
		assert.Equal(t, want.home, s.Home(), name)
		assert.Equal(t, want.managed, agent.Claude.Files.Managed(name, s.Get), name)
		assert.Equal(t, "/home", System{name, append(env, "HOME=/home")}.Home(), name)
	}
}

// cmd.exe runs what stands after an ampersand in an argument of a command file, so such a prompt is refused.
func TestArgumentsOfCommandFiles(t *testing.T) {
	windows, quoted := System{name: "windows"}, []string{"-p", `{"command":"C:\\Program Files (x86)\\it's"}`, "what fails?"}
	for _, program := range []string{`C:\npm\claude.cmd`, `C:\npm\claude.BAT`, `C:\bin\claude.exe`} {
		assert.NoError(t, windows.checkArgs(program, quoted), program)
	}
	for _, arg := range []string{`say "a & calc"`, "a|b", "<x", ">x", "^", "50%", "two\nlines", "two\rlines"} {
		err := windows.checkArgs(`C:\npm\claude.cmd`, []string{"-p", arg})
		assert.ErrorContains(t, err, "is a command file, and cmd.exe would change an argument with", arg)
		assert.NoError(t, windows.checkArgs(`C:\bin\claude.exe`, []string{"-p", arg}), arg)
		for _, name := range []string{"linux", "darwin"} {
			assert.NoError(t, System{name: name}.checkArgs("/opt/claude.cmd", []string{arg}), arg)
		}
	}
}
