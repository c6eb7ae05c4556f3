//go:build e2e

package e2e

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/dev/chromium"
	"github.com/mcp-pruner/mcp-pruner/cmd/dev/view"
)

// livePage opens the page of `mcp-pruner view` in a real Chromium.
func livePage(t *testing.T, env []string, dir string) *chromium.Browser {
	t.Helper()
	b, stop, err := chromium.Start(t.Context())
	if errors.Is(err, chromium.ErrNone) {
		t.Skip(err)
	}
	require.NoError(t, err)
	t.Cleanup(stop)
	l, err := view.Start(t.Context(), pruner, env, dir)
	require.NoError(t, err)
	t.Cleanup(l.End)
	_, err = b.Open("file://" + l.File)
	require.NoError(t, err)
	return b
}

// shows waits for a condition of a page.
func shows(t *testing.T, b *chromium.Browser, script string) {
	t.Helper()
	require.Eventually(t, func() bool {
		got, err := chromium.Eval[bool](b, script)
		return err == nil && got
	}, time.Minute, 50*time.Millisecond, script)
}

// TestViewFollowsARealClient: the page is open before the client begins, and shows its session, the window and the cut while it works
// against a scripted model.
func TestViewFollowsARealClient(t *testing.T) {
	for name, play := range map[string]func(*world) string{"claude": func(w *world) string { return w.claude() }, "codex": (*world).codex} {
		t.Run(name, func(t *testing.T) {
			w := hooked(t, only(name))
			call := native("Which ledger test fails, and what did it want?", "Bash", map[string]any{"command": testLog, "description": "Run the tests of the ledger"})
			if name == "codex" {
				call = native("I run the tests to see which one fails and why.", "exec_command", map[string]any{"cmd": testLog, "max_output_tokens": 40000})
			}
			w.model.Play(call, done)
			b := livePage(t, w.env, w.dir)
			shows(t, b, `document.getElementById('sessions-sum').textContent.startsWith('0 sessions')`)
			out := play(w)
			require.Len(t, w.results(), 1, out)
			shows(t, b, `document.getElementById('sessions-sum').textContent.startsWith('1 session, 2 calls; 1 result cut')`)
			_, err := chromium.Eval[bool](b, `(document.querySelector('#sessions .row').click(), true)`)
			require.NoError(t, err)
			shows(t, b, `document.querySelectorAll('#events .row').length === 1`)
			_, err = chromium.Eval[bool](b, `(document.querySelector('#events .row').click(), true)`)
			require.NoError(t, err)
			shows(t, b, `document.querySelectorAll('#lines .row').length > 5`)
			kept, err := chromium.Eval[string](b, `document.getElementById('event').textContent`)
			require.NoError(t, err)
			assert.Regexp(t, `[1-9][0-9]* of [0-9]+ lines? kept`, kept)
			problems := slices.DeleteFunc(b.Problems(), func(text string) bool { return strings.Contains(text, "status of 404") }) // the page was quicker than the client
			assert.Empty(t, problems)
		})
	}
}

// TestViewIsAccessible runs axe-core's automatic checks (contrast, labels, roles, names) on every tab, light and dark, wide and narrow.
func TestViewIsAccessible(t *testing.T) {
	dir, err := installFrom("clients/axe/package.json", "mcp-pruner-e2e-axe")
	require.NoError(t, err)
	axe, err := os.ReadFile(filepath.Join(dir, "node_modules", "axe-core", "axe.min.js"))
	require.NoError(t, err)
	h := view.Home{Dir: t.TempDir(), Program: pruner}
	_, err = h.Scripted("s1", "shop", time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC), 1, true)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(h.Dir, "state", "mcp-pruner", "context-claude.json"), []byte(view.ExamplePrefix), 0o600))
	b := livePage(t, h.Env(), h.Dir)
	for _, scheme := range []string{"light", "dark"} {
		for _, width := range []int64{1280, 360} {
			require.NoError(t, b.Screen(scheme, width, 900))
			for _, tab := range []string{"sessions", "prefix", "trace", "replay"} {
				_, err := chromium.Eval[bool](b, `(document.getElementById('tab-`+tab+`').click(), true)`)
				require.NoError(t, err)
				shows(t, b, `document.documentElement.dataset.tab === '`+tab+`'`)
				if tab == "sessions" {
					_, err := chromium.Eval[bool](b, `(document.querySelector('#sessions .row').click(), true)`)
					require.NoError(t, err)
					shows(t, b, `document.querySelectorAll('#events .row').length > 1`)
					_, err = chromium.Eval[bool](b, `(document.querySelectorAll('#events .row')[1].click(), true)`)
					require.NoError(t, err)
					shows(t, b, `document.querySelectorAll('#lines .row').length > 5`)
				}
				_, err = chromium.Eval[bool](b, string(axe)+`;(window.found = undefined, axe.run({ resultTypes: ['violations'] }).then(r => { window.found = r.violations.map(v => v.id + ': ' + v.nodes.length + ' as ' + v.nodes[0].html.slice(0, 160) + ' ' + v.nodes[0].failureSummary); }), true)`)
				require.NoError(t, err)
				shows(t, b, `window.found !== undefined`)
				found, err := chromium.Eval[[]string](b, `window.found`)
				require.NoError(t, err)
				assert.Empty(t, found, fmt.Sprintf("%s, %s, %d", tab, scheme, width))
			}
		}
	}
}
