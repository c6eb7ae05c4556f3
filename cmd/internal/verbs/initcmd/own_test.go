package initcmd

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
	"github.com/mcp-pruner/mcp-pruner/runnerfsm/setup"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

// Commands of a user's that mention this program. CLIENT stands for the client's name.
var foreignCommands = []string{
	`log-tools --about "mcp-pruner hook CLIENT"`,
	`mcp-pruner hook CLIENT | tee /tmp/log`,
	`mcp-pruner hook CLIENT; echo done`,
	`mcp-pruner hook CLIENT && notify`,
	`mcp-pruner hook CLIENT > /tmp/x`,
	`sh -c "mcp-pruner hook CLIENT; touch /tmp/x"`,
	`env X=1 mcp-pruner hook CLIENT`,
	`/home/me/bin/mcp-pruner-wrapper hook CLIENT`,
	`/home/me/mcp-pruner/wrap.sh hook CLIENT`,
	`mcp-pruner hook CLIENT --mine`,
	`mcp-pruner hook CLIENT # mine`,
	`echo mcp-pruner proxy --ensure --port 8787`,
	`mcp-pruner proxy --ensure --port 8787 || bell`,
	`mcp-pruner proxy --ensure --port 8787 --policy both`,
	`"$HOME/mcp-pruner" hook CLIENT`,
}

// everything runs the verb uninstall.
func everything(t *testing.T, dir string) string {
	t.Helper()
	var out, errs bytes.Buffer
	p := command.Process{Env: []string{"HOME=" + dir}, Stdout: &out, Stderr: &errs}
	require.Zero(t, command.Verb(context.Background(), UninstallCommand(p, nothingMore, nothingMore), p), errs.String())
	return out.String()
}

// What only mentions this program is the user's: it stays as it is, beside our own entries, and is named.
func TestACommandThatOnlyMentionsUsStays(t *testing.T) {
	for _, c := range agent.With(func(c *agent.Client) bool { return c.Hooks != nil && c.Hooks.Plugin == "" }) {
		t.Run(c.Name, func(t *testing.T) {
			var events []string
			for _, e := range c.Hooks.Events {
				events = append(events, e.Name)
			}
			if c.Proxy != nil {
				events = append(events, c.Proxy.Start...)
			}
			lists := map[string]any{}
			var mine []string
			for _, event := range events {
				var list []any
				for _, text := range foreignCommands {
					text = strings.ReplaceAll(text, "CLIENT", c.Name)
					mine = append(mine, "hooks."+event+": "+text)
					list = append(list, map[string]any{"matcher": "Bash", "hooks": []any{map[string]any{"type": "command", "command": text}}})
				}
				lists[event] = list
			}
			text, err := json.Marshal(map[string]any{"hooks": lists})
			require.NoError(t, err)
			dir := t.TempDir()
			h := setup.Home{Lookup: func(name string) (string, bool) { return dir, name == "HOME" }}
			files, err := h.Files(c.Name)
			require.NoError(t, err)
			write(t, files.Hooks.Path, string(text))
			args := []string{c.Name, "--hooks"}
			if c.Proxy != nil && len(c.Proxy.Start) > 0 {
				args = append(args, "--proxy")
			}
			for _, uninstall := range []func() string{
				func() string { _, out, _ := verb(t, dir, c.Name, "--uninstall"); return out },
				func() string { return everything(t, dir) },
				func() string { return everything(t, dir) }, // nothing of ours is there
			} {
				out := uninstall()
				for _, what := range mine {
					assert.Contains(t, out, "left as it is, because init does not write it so: "+what+" (")
				}
				now, err := os.ReadFile(files.Hooks.Path)
				require.NoError(t, err)
				assert.JSONEq(t, string(text), string(now))
				code, out, stderr := verb(t, dir, args...)
				require.Zero(t, code, stderr)
				assert.Contains(t, out, mine[0], "it runs beside ours")
				now, err = os.ReadFile(files.Hooks.Path)
				require.NoError(t, err)
				for _, what := range mine {
					_, command, _ := strings.Cut(what, ": ")
					quoted, err := json.Marshal(command)
					require.NoError(t, err)
					assert.GreaterOrEqual(t, strings.Count(string(now), strings.Trim(string(quoted), `"`)), 1, command)
				}
			}
		})
	}
}

// Every form in which this version or an earlier one wrote a hook is ours.
func TestTheFormsThatInitWrites(t *testing.T) {
	h := home{path: `/opt/own name/tool`}
	for command, program := range map[string]string{
		`mcp-pruner hook claude`:                                    "mcp-pruner",
		`/usr/local/bin/mcp-pruner hook claude`:                     "/usr/local/bin/mcp-pruner",
		`'/opt/my tools/mcp-pruner' hook claude`:                    "/opt/my tools/mcp-pruner",
		`'/opt/o'\''neill/mcp-pruner' hook claude --only Bash,a.b*`: "/opt/o'neill/mcp-pruner",
		`"/opt/my tools/mcp-pruner" hook claude`:                    "/opt/my tools/mcp-pruner",
		`C:/tools/mcp-pruner.exe hook claude`:                       "C:/tools/mcp-pruner.exe",
		`C:\tools\mcp-pruner.exe hook claude`:                       `C:\tools\mcp-pruner.exe`,
		`& 'C:/my tools/mcp-pruner.exe' hook claude`:                "C:/my tools/mcp-pruner.exe",
		`/x/mcp-pruner hook claude --replace --except Read || true`: "/x/mcp-pruner",
		`'/opt/own name/tool' hook claude`:                          "/opt/own name/tool",
	} {
		found, _, ours := h.ownHook(command, "claude")
		assert.True(t, ours, command)
		assert.Equal(t, program, found)
		_, _, ours = h.ownHook(command, "codex")
		assert.False(t, ours, "another client's")
	}
	for _, command := range []string{`mcp-pruner statusline --first 'a'; echo 'b'`, `mcp-pruner statusline | cat`, `wrap mcp-pruner statusline`, `'mcp-pruner`, ``} {
		_, ours := h.ownStatus(command)
		assert.False(t, ours, command)
	}
	first, ours := h.ownStatus(`/x/mcp-pruner statusline --first 'echo '\''a'\'' | cat'`)
	assert.True(t, ours)
	assert.Equal(t, `echo 'a' | cat`, first)
}

// A server, a status line, a rule and a file of the user's at the places of ours stay, and are named.
func TestOtherPiecesThatOnlyMentionUsStay(t *testing.T) {
	dir := t.TempDir()
	mine := map[string]string{
		".claude.json": `{"mcpServers":{"pruner":{"command":"/home/me/wrap","args":["mcp-pruner"],"env":{}}}}`,
		".claude/settings.json": `{"statusLine":{"type":"command","command":"mcp-pruner statusline | tr a b"},` +
			`"permissions":{"allow":["Bash(/usr/bin/sudo /opt/mcp-pruner recover:*)"]}}`,
		".codex/rules/mcp-pruner.rules":                 "# mine\nprefix_rule(pattern = [\"/opt/mcp-pruner\", \"recover\"], decision = \"allow\")\nprefix_rule(pattern = [\"ls\"], decision = \"allow\")\n",
		".config/opencode/plugins/mcp-pruner.js":        "// my own, for mcp-pruner\n",
		".config/systemd/user/mcp-pruner-proxy.service": "[Service]\nExecStart=/opt/mcp-pruner proxy --port 9000\n",
	}
	for name, text := range mine {
		write(t, filepath.Join(dir, filepath.FromSlash(name)), text)
	}
	before := filesBelow(t, dir)
	for _, args := range [][]string{{"claude", "--mcp"}, {"opencode", "--hooks"}, {"codex", "--allow-recover"}} {
		code, _, stderr := verb(t, dir, args...)
		assert.NotZero(t, code, "%v", args)
		assert.Regexp(t, `is set to something else|init did not write it`, stderr)
	}
	for _, client := range []string{"claude", "codex", "opencode"} {
		_, _, _ = verb(t, dir, client, "--uninstall")
	}
	out := everything(t, dir)
	after := filesBelow(t, dir)
	for name := range before {
		assert.Equal(t, before[name], after[name], name)
	}
	for _, what := range []string{"mcpServers.pruner (", "statusLine: mcp-pruner statusline | tr a b", "mcp-pruner.rules)", "mcp-pruner.js)"} {
		assert.Contains(t, out, what)
	}
	assert.True(t, slices.Contains(strings.Split(out, "\n"), "left as it is, because init does not write it so: the whole file ("+filepath.Join(dir, ".codex", "rules", "mcp-pruner.rules")+")"), out)
}
