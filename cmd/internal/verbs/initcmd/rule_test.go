package initcmd

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
	"github.com/mcp-pruner/mcp-pruner/runnerfsm/setup"
)

// ruleFiles are the files in which each client's rule is, below the home folder.
var ruleFiles = map[string]string{
	"claude": ".claude/settings.json", "codex": ".codex/rules/mcp-pruner.rules", "gemini": ".gemini/policies/mcp-pruner.toml", "opencode": ".config/opencode/opencode.jsonc",
}

// asking returns a home in which every client asks before it runs commands, and a project's folder that is the current one.
func asking(t *testing.T) (dir, project string) {
	t.Helper()
	dir, project = t.TempDir(), t.TempDir()
	write(t, filepath.Join(dir, ".config", "opencode", "opencode.jsonc"), "{\n  // mine\n  \"permission\": {\"bash\": {\"*\": \"ask\"}}\n}\n")
	write(t, filepath.Join(dir, ".claude", "settings.json"), "{\n  \"permissions\": {\"allow\": [\"Read\"], \"deny\": [\"Bash(rm:*)\"]}\n}\n")
	t.Chdir(project)
	return dir, project
}

// The rule is printed, and written only if the flag says so: in the user's file, with a path, and never in the project.
func TestTheRuleIsWrittenOnlyIfAsked(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	for client, name := range ruleFiles {
		t.Run(client, func(t *testing.T) {
			dir, project := asking(t)
			file := filepath.Join(dir, filepath.FromSlash(name))
			code, stdout, stderr := verb(t, dir, client, "--hooks")
			require.Zero(t, code, stderr)
			assert.Contains(t, stdout, self)
			assert.Contains(t, stdout, "To write it: mcp-pruner init "+client+" --allow-recover\n")
			assert.NotContains(t, filesBelow(t, dir)[file], " recover")
			before := filesBelow(t, dir)

			var out bytes.Buffer
			p := command.Process{Args: []string{client, "--hooks"}, Env: []string{"HOME=" + dir}, Stdin: strings.NewReader("yes\n"), Stdout: &out, Stderr: &out}
			require.Zero(t, command.Verb(context.Background(), Command(p, nil), p), out.String())
			assert.Equal(t, before, filesBelow(t, dir), "an answer counts on a terminal only")

			code, stdout, stderr = verb(t, dir, client, "--hooks", "--allow-recover")
			require.Zero(t, code, stderr)
			assert.Contains(t, stdout, "rule: installed ("+file+")")
			assert.Contains(t, filesBelow(t, dir)[file], self)
			assert.Empty(t, filesBelow(t, project))
			_, stdout, _ = verb(t, dir, client, "--hooks")
			assert.NotContains(t, stdout, "--allow-recover", "it is there")
			_, stdout, _ = verb(t, dir, client, "--show")
			assert.Regexp(t, `(?m)^rule +installed`, stdout)

			code, _, stderr = verb(t, dir, client, "--uninstall", "--allow-recover")
			require.Zero(t, code, stderr)
			assert.NotContains(t, filesBelow(t, dir)[file], " recover")
			_, stdout, _ = verb(t, dir, client, "--show")
			assert.Regexp(t, `(?m)^hooks +installed`, stdout, "only the rule is gone")
		})
	}
}

// The rule of a program that was moved is replaced, and rules that the user wrote stay.
func TestAMovedRule(t *testing.T) {
	dir, _ := asking(t)
	file := filepath.Join(dir, ".claude", "settings.json")
	write(t, file, `{"permissions": {"allow": ["Bash(mcp-pruner recover:*)", "Bash(/old/mcp-pruner recover:*)", "Bash(/old/mcp-pruner gain)"], "deny": ["Bash(/old/mcp-pruner recover:*)"]}}`)
	code, _, stderr := verb(t, dir, "claude", "--allow-recover")
	require.Zero(t, code, stderr)
	j, err := setup.ParseJSON([]byte(filesBelow(t, dir)[file]))
	require.NoError(t, err)
	self, err := os.Executable()
	require.NoError(t, err)
	assert.Equal(t, []any{"Bash(mcp-pruner recover:*)", "Bash(/old/mcp-pruner gain)", "Bash(" + self + " recover:*)"}, j.Get("permissions", "allow"))
	assert.Equal(t, []any{"Bash(/old/mcp-pruner recover:*)"}, j.Get("permissions", "deny"))
}

// opencode needs no rule where it does not ask, and a setting for all commands is not rewritten.
func TestOpencodeThatDoesNotAsk(t *testing.T) {
	for settings, want := range map[string]struct {
		code int
		says string
	}{
		`{}`:                                        {0, "opencode runs commands without asking"},
		`{"permission": "allow"}`:                   {0, "opencode runs commands without asking"},
		`{"permission": {"edit": "ask"}}`:           {0, "opencode runs commands without asking"},
		`{"permission": "ask"}`:                     {1, `write permission.bash as {"*": "ask"}`},
		`{"permission": {"*": "ask"}}`:              {1, `write permission.bash as {"*": "ask"}`},
		`{"permission": {"bash": "ask"}}`:           {1, `write permission.bash as {"*": "ask"}`},
		`{"permission": {"bash": {"ls": "allow"}}}`: {0, "rule: installed"},
	} {
		dir := t.TempDir()
		write(t, filepath.Join(dir, ".config", "opencode", "opencode.jsonc"), settings)
		code, stdout, stderr := verb(t, dir, "opencode", "--allow-recover")
		assert.Equal(t, want.code, code, settings)
		assert.Contains(t, stdout+stderr, want.says, settings)
	}
}

func TestAgrees(t *testing.T) {
	for answer, want := range map[string]bool{"y\n": true, " YES \n": true, "\n": false, "n\n": false, "": false, "yes": false, "yes, please\n": false} {
		assert.Equal(t, want, agrees(strings.NewReader(answer)), answer)
	}
}
