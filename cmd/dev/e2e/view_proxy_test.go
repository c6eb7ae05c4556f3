//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/dev/chromium"
	"github.com/mcp-pruner/mcp-pruner/cmd/dev/e2e/mockmodel"
)

// TestViewShowsARunningProxy: a real client works behind the running proxy, and the open page shows what the proxy cleared, with the reason,
// when it has paid, and the command that brings it back.
func TestViewShowsARunningProxy(t *testing.T) {
	var turns []mockmodel.Turn
	for i := range 40 {
		turns = append(turns, native("", "Bash", map[string]any{"command": fmt.Sprintf(`seq -f "line %%g of the output of call %d" 1 400`, i), "description": "count"}))
	}
	w := newWorld(t, only("claude"), append(turns, done)...)
	state := filepath.Join(w.home, "state")
	w.env = append(w.env, "XDG_STATE_HOME="+state)
	require.NoError(t, os.MkdirAll(filepath.Join(state, "mcp-pruner"), 0o700))
	p := &gcProxy{w: w, store: filepath.Join(state, "mcp-pruner", "ledger.db")}
	p.start()
	defer func() { p.kill() }()
	w.through(p)
	b := livePage(t, w.env, w.dir)
	shows(t, b, `document.getElementById('sessions-sum').textContent.startsWith('0 sessions')`)
	out := w.claude()
	require.Len(t, w.results(), len(turns), out)
	shows(t, b, `document.getElementById('sessions-sum').textContent.startsWith('1 session, 41 calls')`)
	for _, script := range []string{
		`document.querySelector('#sessions .row').click()`,
		`[...document.querySelectorAll('#events-kinds button')].find(e => e.textContent === 'cleared').click()`,
		`document.querySelector('#events .row').click()`,
	} {
		shows(t, b, `(() => { try { `+script+`; return true } catch { return false } })()`)
	}
	shows(t, b, `document.getElementById('event').textContent.includes('tokens cleared')`)
	said, err := chromium.Eval[string](b, `document.getElementById('event').textContent`)
	require.NoError(t, err)
	t.Log(said)
	assert.Regexp(t, `tokens cleared; (pays after \d+ calls?, \d+ so far|cost nothing)\.`, said)
	assert.Regexp(t, `Reason: (clearing \d+ results frees|the cache is written again anyway)`, said, "the planner's words")
	assert.Contains(t, said, "recover prn_")
	cleared, err := chromium.Eval[float64](b, `Number(document.querySelector('[data-stat=session-clearing]').dataset.value)`)
	require.NoError(t, err)
	assert.NotZero(t, cleared)
	if file := os.Getenv("VIEW_PICTURE"); file != "" {
		for name, screen := range map[string]struct {
			scheme string
			width  int64
		}{"dark": {"dark", 1280}, "narrow": {"light", 360}, "light": {"light", 1280}} {
			require.NoError(t, b.Screen(screen.scheme, screen.width, 900))
			picture, err := b.Screenshot()
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(file+"-"+name+".png", picture, 0o600))
		}
	}
	assert.Empty(t, b.Problems())
}
