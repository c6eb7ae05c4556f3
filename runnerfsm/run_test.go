package runnerfsm

import (
	"io"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mcp-pruner/mcp-pruner/runnerfsm/provider"
)

// ended returns a run whose client has ended with a code, and which was told to end by a signal, 0: none.
func ended(code int, signal syscall.Signal) *run {
	r := newRun(Options{Provider: provider.Codex{}, Stdout: io.Discard})
	r.phase = noPhase()
	r.phase.code = code
	r.interrupted.Store(signalNumber(signal))
	return r
}

// TestExitCode: the client's code wins; a client that ends well after a signal did not do its work.
func TestExitCode(t *testing.T) {
	for _, c := range []struct {
		code   int
		signal syscall.Signal
		want   int
	}{
		{0, 0, 0}, {7, 0, 7}, {0, syscall.SIGINT, 130}, {0, syscall.SIGTERM, 143}, {0, syscall.SIGHUP, 129},
		{7, syscall.SIGINT, 7}, {130, syscall.SIGTERM, 130},
	} {
		assert.Equal(t, c.want, ended(c.code, c.signal).exitCode(), "%+v", c)
	}
}

// TestInterruptedClientIsNotStartedAgain: a client that gave up because of the server is started once more without
// it, unless it succeeded nevertheless or was told to end.
func TestInterruptedClientIsNotStartedAgain(t *testing.T) {
	for _, c := range []struct {
		code   int
		signal syscall.Signal
		again  bool
	}{{1, 0, true}, {0, 0, false}, {1, syscall.SIGINT, false}, {130, syscall.SIGINT, false}, {1, syscall.SIGTERM, false}} {
		r := ended(c.code, c.signal)
		r.phase.gaveUp, r.phase.why = true, "the server is required"
		_, again := r.gaveUp()
		assert.Equal(t, c.again, again, "%+v", c)
	}
	_, again := ended(1, 0).gaveUp()
	assert.False(t, again, "it failed for another reason")
}
