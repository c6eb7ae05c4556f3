//go:build e2e

package e2e

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/dev/e2e/mockmodel"
)

// TestTurnedOff sets a client up by "init --yes", which finds it, sees it work, and turns the hooks off for one command, one session, one
// project and one tool.
func TestTurnedOff(t *testing.T) {
	for _, c := range []client{only("claude"), only("codex"), other("opencode")} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, c)
			w.env = append(w.env, "XDG_STATE_HOME="+filepath.Join(w.home, "state"))
			tool, argument := strings.ToUpper(c.shell[:1])+c.shell[1:], c.argument
			if c.name != "claude" {
				tool = c.shell
			}
			run := func(command string) mockmodel.Turn {
				return native("I run the tests to see which one fails and why.", tool, map[string]any{argument: command, "description": "which test failed and why"})
			}
			whole := func(turns ...mockmodel.Turn) bool {
				t.Helper()
				w.model = mockmodel.Start(t, append(turns, done)...)
				w.point()
				var out string
				switch c.name {
				case "claude":
					out = w.claude()
				case "codex":
					out = w.codex()
				default:
					text, _ := w.own("how often is it tried?").CombinedOutput()
					out = string(text)
				}
				results := w.results()
				require.Len(t, results, len(turns), out)
				last := results[len(results)-1].text
				require.Contains(t, last, "want 3 retries, got 4", out)
				return strings.Contains(last, "TestCase50 ")
			}
			said := w.ours("init", "--yes")
			assert.Contains(t, said, "To see it work, paste this into the client:")
			assert.Contains(t, w.ours("doctor"), map[bool]string{true: "hooks not trusted", false: "hooks on, nothing cut yet"}[c.name == "codex"])
			assert.False(t, whole(run(testLog)), "it works")
			assert.Regexp(t, `hooks on, last cut (less than a minute|\d+ minutes?) ago`, w.ours("doctor"))

			assert.True(t, whole(run(testLog+" # unpruned")), "one command")
			assert.True(t, whole(run("mcp-pruner pause --session x >/dev/null 2>&1; "+testLog+" # Unpruned, please")), "the word in any case")
			w.env = append(w.env, "MCP_PRUNER_HOOK=off")
			assert.True(t, whole(run(testLog)), "one session")
			w.env = w.env[:len(w.env)-1]
			w.write(filepath.Join(w.dir, ".mcp-pruner"), "MCP_PRUNER_HOOK=off\n", 0o644)
			assert.True(t, whole(run(testLog)), "one project")
			w.write(filepath.Join(w.dir, ".mcp-pruner"), "", 0o644)
			assert.False(t, whole(run(testLog)), "on again")
			w.ours("init", c.name, "--except", map[string]string{"claude": "Bash", "codex": "Bash", "opencode": "bash"}[c.name])
			assert.True(t, whole(run(testLog)), "one tool")
			w.ours("init", c.name, "--except", "")
			assert.False(t, whole(run(testLog)), "and on again")
		})
	}
}

// point makes the client ask the world's model of now.
func (w *world) point() {
	for i, entry := range w.env {
		if strings.HasPrefix(entry, "ANTHROPIC_BASE_URL=") {
			w.env[i] = "ANTHROPIC_BASE_URL=" + w.model.URL
		}
	}
	if w.client.config != nil {
		w.client.config(w, w.model.URL)
	}
}
