package keeper

import (
	"os"
	"os/exec"
	"syscall"

	"github.com/mcp-pruner/mcp-pruner/tools/process"
)

const prSetChildSubreaper = 36 // PR_SET_CHILD_SUBREAPER of prctl(2)

// adoptOrphans makes this process the parent of every descendant whose own
// parent dies, so that none can slip away to init.
func adoptOrphans() {
	_, _, _ = syscall.RawSyscall(syscall.SYS_PRCTL, prSetChildSubreaper, 1, 0)
}

// descendants lists the living descendants of this process.
var descendants = func() []int { return below(os.Getpid()) }

// below lists the living descendants of a process.
func below(root int) []int {
	children := make(map[int][]int)
	for _, l := range process.Living() {
		children[l.Parent] = append(children[l.Parent], l.PID)
	}
	var found []int
	for queue := children[root]; len(queue) > 0; queue = queue[1:] {
		found = append(found, queue[0])
		queue = append(queue, children[queue[0]]...)
	}
	return found
}

// endWithParent has the kernel ask a command to end when this process is gone.
func endWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
}
