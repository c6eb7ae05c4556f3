//go:build e2e

package e2e

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestReadingAFileAgainBringsAllOfIt proves that Claude Code's model, which was shown a part of a file, gets all of it by the same Read
// again, through the hook, through the proxy, and where there are both. From then on a version that answers a Read of unchanged lines
// itself may do so.
func TestReadingAFileAgainBringsAllOfIt(t *testing.T) {
	prunes := func(w *world) {
		p := &gcProxy{w: w, store: filepath.Join(t.TempDir(), "ledger.db"), options: []string{"--policy", "both"}}
		p.start()
		w.t.Cleanup(p.kill)
		w.through(p)
	}
	doors := map[string]func(w *world) (run func() string){
		"hook": func(w *world) func() string {
			w.ours("init", "claude")
			return func() string { return w.claude() }
		},
		"both": func(w *world) func() string {
			w.ours("init", "claude")
			prunes(w)
			return func() string { return w.claude() }
		},
		"proxy": func(w *world) func() string {
			prunes(w)
			return w.alone
		},
	}
	for door, prepare := range doors {
		t.Run(door, func(t *testing.T) {
			c := only("claude")
			w := newWorld(t, c)
			w.env = append(w.env, "XDG_STATE_HOME="+filepath.Join(w.home, "state"))
			file := filepath.Join(w.dir, "ledger.go")
			w.write(file, ledgerGo(), 0o644)
			run := prepare(w)
			read := map[string]any{"file_path": file}
			w.model.Play(
				native("I look where openLedger counts retries.", "Read", read),
				native("I want all of it.", "Read", read),
				native("And once more.", "Read", read), done)
			out := run()
			results := w.results()
			require.Len(t, results, 3, out)
			assert.Less(t, len(results[0].text), len(ledgerGo())/3, "the first one was cut")
			all := strings.Count(ledgerGo(), "func handler")
			assert.Equal(t, all, strings.Count(results[1].text, "func handler"), "%.300s", results[1].text)
			if !strings.Contains(results[2].text, "unchanged") {
				assert.Equal(t, all, strings.Count(results[2].text, "func handler"), "%.300s", results[2].text)
			}
		})
	}
}
