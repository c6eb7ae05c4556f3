package keeper

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"

	"mcp-pruner/tools/process"
)

// killNow ends the keeper, which is all that can be done here.
var killNow = os.Kill

// IgnoreQuit has nothing to do here: there is no SIGQUIT.
func IgnoreQuit() {}

// EndSignals are the signals that ask a run to end.
func EndSignals() []os.Signal { return []os.Signal{os.Interrupt, syscall.SIGTERM} }

func ownGroup(cmd *exec.Cmd) { cmd.ExtraFiles = nil } // Windows cannot pass them on

// Main is the keeper process. On Windows it only runs the command.
func Main(argv []string) int {
	_, argv = takeGrace(argv, 0)
	if len(argv) == 0 {
		fmt.Fprintln(os.Stderr, "mcp-pruner keep: there is no command to keep")
		return 2
	}
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := cmd.Run(); cmd.ProcessState == nil {
		fmt.Fprintln(os.Stderr, "mcp-pruner:", err)
		return CannotStart
	}
	return process.ExitCode(cmd.ProcessState)
}
