//go:build unix

package cli

import (
	"os"
	"os/signal"
	"syscall"

	"mcp-pruner/runnerfsm/keeper"
)

// endSignals ask the process to end. Claude sends SIGINT at the end of a run,
// others SIGTERM; a closing terminal sends SIGHUP. What is ignored stays ignored.
func endSignals() []os.Signal {
	return keeper.NotIgnored(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
}

// surviveClosedPipes makes a write to a closed pipe return EPIPE instead of
// killing the process, so that a lost client is noticed and accounted for.
// SIGPIPE is caught and not ignored: what is ignored stays ignored in child
// processes, and "yes | head" in a user's command would no longer end quietly.
func surviveClosedPipes() { signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) }
