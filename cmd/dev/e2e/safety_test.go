//go:build e2e

package e2e

import (
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// showEnvironment is a command that prints the server's environment from /proc, and its own.
const showEnvironment = `echo SERVER; tr '\0' '\n' </proc/$PPID/environ; echo COMMAND; env`

// TestNoSecrets proves that a command that the server runs gets neither the client's keys and session secrets nor the
// server's own settings. With Codex, the server's environment has only the variables that the design lists and those
// that Codex always passes.
func TestNoSecrets(t *testing.T) {
	each(t, func(t *testing.T, c client) {
		w := newWorld(t, c, call("bash", map[string]any{"command": showEnvironment}), done)
		w.env = append(w.env, "DEEPINFRA_API_KEY=sk-secret-deepinfra", "PRUNER_TIMEOUT_MS=5000", "CODEX_API_KEY=sk-secret-codex")
		o := w.run(allowBash...)
		require.Zero(t, o.code, o.stderr)
		require.Len(t, w.results(), 1)
		_, text, found := strings.Cut(w.results()[0].text, "SERVER\n")
		require.True(t, found, text)
		server, command, found := strings.Cut(text, "COMMAND\n")
		require.True(t, found)

		assert.NotContains(t, command, "sk-secret", "a command sees a secret")
		for _, name := range names(command) {
			for _, prefix := range []string{"PRUNER_", "MCP_PRUNER_", "JEEVES_", "DEEPINFRA_", "ANTHROPIC_", "CLAUDE_CODE_", "CODEX_", "OPENAI_API_KEY"} {
				assert.False(t, strings.HasPrefix(name, prefix), "a command sees %s", name)
			}
		}
		assert.NotContains(t, server, "sk-secret-anthropic")
		assert.NotContains(t, server, "sk-secret-openai")
		assert.NotContains(t, server, "sk-secret-mock")
		assert.NotContains(t, server, "sk-secret-codex")
		assert.NotContains(t, server, "PRUNER_TIMEOUT_MS", "a command reads the settings where the kernel keeps them")
		if c.name == "codex" {
			fixed := []string{"HOME", "LANG", "LC_ALL", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER"}
			ours := []string{"PRUNER_URL", "MCP_PRUNER_CWD", "PRUNER_TIMEOUT_MS", "DEEPINFRA_API_KEY"}
			for _, name := range names(server) {
				assert.Contains(t, slices.Concat(fixed, ours), name)
			}
		}
	})
}

func names(environment string) []string {
	var names []string
	for _, line := range strings.Split(environment, "\n") {
		if name, _, ok := strings.Cut(line, "="); ok {
			names = append(names, name)
		}
	}
	return names
}

// TestNoOrphans kills 50 runs of the real clients at random moments with three signals while a command is running, and
// proves that no process is left.
func TestNoOrphans(t *testing.T) {
	const runs = 25 // of each client
	each(t, func(t *testing.T, c client) {
		w := newWorld(t, c, call("bash", map[string]any{"command": "(setsid sleep 300 &); sleep 300"}), done)
		random := rand.New(rand.NewPCG(3, 4))
		kills := []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM, syscall.SIGINT}
		var group sync.WaitGroup
		var most atomic.Int32
		atOnce := make(chan struct{}, 3)
		for i := range runs {
			moment := time.Duration(random.IntN(2500)) * time.Millisecond
			group.Go(func() {
				atOnce <- struct{}{}
				defer func() { <-atOnce }()
				cmd := w.command(allowBash...)
				if !assert.NoError(t, cmd.Start()) {
					return
				}
				timer := time.AfterFunc(moment, func() {
					most.Store(max(most.Load(), int32(len(w.left()))))
					_ = cmd.Process.Signal(kills[i%len(kills)])
				})
				defer timer.Stop()
				_ = cmd.Wait()
			})
		}
		group.Wait()
		assert.Eventually(t, func() bool { return len(w.left()) == 0 }, 15*time.Second, 50*time.Millisecond, "%v", w.left())
		assert.Greater(t, most.Load(), int32(4), "there was something to end")
	})
}
