package runnerfsm

import (
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/mcp-pruner/mcp-pruner/runnerfsm/provider"
)

// TestEndedServerEnded: a server that is gone was not killed, even if the run is
// told to end in the same moment.
func TestEndedServerEnded(t *testing.T) {
	exited := make(chan struct{})
	close(exited)
	for range 50 {
		signals := make(chan os.Signal, 1)
		signals <- syscall.SIGINT
		h := &owned{run: newRun(Options{Provider: provider.Claude{}, Signals: signals}), server: &serverProcess{Exited: exited}}
		h.options.ShutdownTimeout = time.Minute
		assert.True(t, h.ends())
	}
}
