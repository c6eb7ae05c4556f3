//go:build e2e

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/dev/e2e/mockmodel"
)

// unasked runs Claude Code without any permission but those of the user's settings. Nobody is there to be asked.
func (w *world) unasked(turns ...mockmodel.Turn) (results []seen) {
	w.t.Helper()
	w.model.Play(append(turns, done)...)
	out := w.play("-p", "what was cut?", "--output-format", "stream-json", "--verbose", "--setting-sources", "user", "--strict-mcp-config")
	results = w.results()
	require.Len(w.t, results, len(turns), out)
	return results
}

// TestTheRuleForRecover proves that Claude Code refuses the command that brings a result back until init has written the
// rule, that the hook then names the command as the rule does, and that the rule allows nothing beside recover.
func TestTheRuleForRecover(t *testing.T) {
	c := only("claude")
	w := hookedWorld(t, c)
	shell := func(command string) mockmodel.Turn { return c.shellTurn("I look at what was cut.", command) }
	cut := func() (way, id string) {
		w.model.Play(c.shellTurn("I run the tests to see which one fails and why.", "sh tests.sh"), done)
		out := w.claude()
		_, rest, found := strings.Cut(w.results()[0].text, "`")
		require.True(t, found, out)
		way, id, found = strings.Cut(rest, " prn_")
		require.True(t, found, out)
		return way, "prn_" + id[:8]
	}
	way, id := cut()
	refused := w.unasked(shell(way + " " + id + " --lines 1-3"))[0]
	assert.True(t, refused.error, refused.text)
	assert.NotContains(t, refused.text, "=== RUN")

	assert.Contains(t, w.ours("init", "claude", "--allow-recover"), "rule: installed")
	way, id = cut()
	assert.Equal(t, pruner+" recover", way)
	marker := func(name string) string { return filepath.Join(w.dir, "made-"+name) }
	commands := []string{
		way + " " + id + " --lines 1-3",
		way + " " + id + " --pattern 'TestCase50 '",
		way + " prn_00000000",
		way + " " + id + " && touch " + marker("and"),
		way + " " + id + "; touch " + marker("semicolon"),
		way + " " + id + " | tee " + marker("pipe"),
		way + " " + id + " > " + marker("redirection"),
		way + " " + id + "\ntouch " + marker("line"),
		way + " " + id + " & touch " + marker("background"),
		way + " $(touch " + marker("substitution") + ")",
		way + " `touch " + marker("backticks") + "`",
		way + " <(touch " + marker("process") + ")",
		pruner + " gc stats --store " + marker("other verb"),
	}
	var turns []mockmodel.Turn
	for _, command := range commands {
		turns = append(turns, shell(command))
	}
	results := w.unasked(turns...)
	assert.Contains(t, results[0].text, "=== RUN")
	assert.Contains(t, results[1].text, "TestCase50 ")
	assert.Contains(t, results[2].text, "no original of that id is kept")
	for i, r := range results[3:] {
		assert.True(t, r.error, "%s: %s", commands[3+i], r.text)
		assert.NotContains(t, r.text, "=== RUN", commands[3+i])
	}
	made, err := filepath.Glob(marker("*"))
	require.NoError(t, err)
	assert.Empty(t, made, "the rule allows nothing else")

	w.ours("init", "claude", "--uninstall")
	settings, err := os.ReadFile(filepath.Join(w.home, ".claude", "settings.json"))
	if err == nil {
		assert.NotContains(t, string(settings), "recover")
	}
}
