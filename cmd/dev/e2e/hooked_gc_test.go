//go:build e2e

package e2e

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/dev/e2e/mockmodel"
)

// TestWhatAHookCutIsClearedUnderItsID proves that the proxy knows a text that a hook cut by what the hook showed, as the client sends
// it on: cleared, it has the id of the original.
func TestWhatAHookCutIsClearedUnderItsID(t *testing.T) {
	for _, c := range hookedClients() {
		t.Run(c.name, func(t *testing.T) {
			w, _ := c.world(t)
			turns := []mockmodel.Turn{c.shell("sh tests.sh")}
			for i := range 40 {
				turns = append(turns, c.shellTurn("", fmt.Sprintf(`seq -f "line %%g of the output of call %d" 1 150`, i)))
			}
			w.model.Play(append(turns, done)...)
			p := &gcProxy{w: w, store: filepath.Join(t.TempDir(), "ledger.db")}
			p.start()
			defer p.kill()
			w.through(p)
			out := c.run(w)
			id := ""
			for _, r := range w.model.Requests() {
				if results := resultsOf(t, r); id == "" && len(results) > 0 {
					m := prunedID.FindStringSubmatch(results[0].text)
					require.NotNil(t, m, "%s: %s", out, results[0].text)
					id = m[1]
				}
			}
			require.NotEmpty(t, w.results(), out)
			first := w.results()[0].text
			assert.Contains(t, first, "[cleared ")
			assert.Contains(t, first, id)
		})
	}
}
