//go:build unix

package verbs

import (
	"os"
	"os/signal"
	"syscall"

	"github.com/mcp-pruner/mcp-pruner/runnerfsm/keeper"
)

// endSignals returns the signals that ask the process to end. At the end of a session Claude sends SIGINT, other
// clients SIGTERM; a closing terminal sends SIGHUP. Signals that the process was started to ignore stay ignored.
func endSignals() []os.Signal {
	return keeper.NotIgnored(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
}

// surviveClosedPipes makes a write to a closed pipe return EPIPE instead of killing the process, so that the loss of
// a client is recorded. SIGPIPE is caught instead of ignored, because child processes inherit ignored signals, and
// "yes | head" in a user's command would then end with an error.
func surviveClosedPipes() { signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) }
