//go:build e2e

package e2e

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/dev/e2e/mockmodel"
)

// TestTheWayBackLeadsBack proves, with every real client, through its hooks and through the proxy, that a model that runs the command
// in a cut result gets the whole result, also behind a pipe that the command does not show, and that the same command again gets it
// too.
func TestTheWayBackLeadsBack(t *testing.T) {
	every(t, func(t *testing.T, c client) {
		for door, prepare := range map[string]func(w *world) (run func() string){
			"hook": func(w *world) func() string {
				w.ours(append([]string{"init", c.name}, hookedBy[c.name].options...)...)
				return func() string { return hookedBy[c.name].run(w) }
			},
			"proxy": func(w *world) func() string {
				p := &gcProxy{w: w, store: filepath.Join(t.TempDir(), "ledger.db"), options: []string{"--policy", "prune"}}
				p.start()
				t.Cleanup(p.kill)
				w.through(p)
				return w.alone
			},
		} {
			t.Run(door, func(t *testing.T) {
				w := newWorld(t, c)
				w.env = append(w.env, "XDG_STATE_HOME="+filepath.Join(w.home, "state"))
				w.write(filepath.Join(w.dir, "tests.sh"), testLog+"\n", 0o755)
				run := prepare(w)
				back, hidden := c.shellTurn("I want all of it.", ""), c.shellTurn("And once more.", "sh back.sh")
				back.Before = func() {
					way := regexp.MustCompile("rest: `(.*) --lines A-B`").FindStringSubmatch(w.results()[0].text)
					if assert.NotNil(t, way) {
						back.Calls[0].Args[c.argument] = way[1]
						w.write(filepath.Join(w.dir, "back.sh"), way[1]+" | cat\n", 0o755)
					}
				}
				tests := func() mockmodel.Turn {
					return c.shellTurn("I run the tests to see which one fails and why.", "sh tests.sh")
				}
				w.model.Play(tests(), back, hidden, tests(), tests(), done)
				out := run()
				results := w.results()
				require.Len(t, results, 5, out)
				all := strings.Count(results[1].text, "--- PASS: TestCase")
				assert.Greater(t, all, 50)
				for i, whole := range []bool{false, true, true} {
					count := strings.Count(results[i].text, "--- PASS: TestCase")
					assert.Equal(t, whole, count == all, "result %d: %d of %d: %.300s", i, count, all, results[i].text)
				}
				assert.Equal(t, all, strings.Count(results[4].text, "--- PASS: TestCase"), "the same command again")
			})
		}
	})
}
