package keeper

import (
	"os"
	"os/exec"
	"sync"
	"syscall"

	"github.com/mcp-pruner/mcp-pruner/tools/process"
)

// killNow ends the keeper, and with it all that it started, see Main.
var killNow = os.Kill

// IgnoreQuit has nothing to do here: there is no SIGQUIT.
func IgnoreQuit() {}

// EndSignals are the signals that ask a run to end.
func EndSignals() []os.Signal { return []os.Signal{os.Interrupt, syscall.SIGTERM} }

// endTogether is called by the runner before it starts a keeper, and by the keeper. If it fails, what they start may
// outlive them.
var endTogether = sync.OnceValue(process.EndTogether)

func ownGroup(cmd *exec.Cmd) {
	_ = endTogether()
	cmd.ExtraFiles = nil // Windows cannot pass on the lifeline
}

// Main is the keeper process. It has no lifeline: when the runner ends, Windows ends the keeper.
func Main(argv []string) int {
	_ = endTogether()
	return runAlone(argv)
}
