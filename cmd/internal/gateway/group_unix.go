//go:build unix

package gateway

import (
	"os/exec"
	"syscall"
)

// processGroup is an upstream's process and all that it starts.
type processGroup struct{ cmd *exec.Cmd }

func (g *processGroup) prepare(cmd *exec.Cmd) {
	cmd.SysProcAttr = groupAttributes()
	g.cmd = cmd
}

// kill ends what is left of the group.
func (g *processGroup) kill() {
	if g.cmd != nil && g.cmd.Process != nil {
		_ = syscall.Kill(-g.cmd.Process.Pid, syscall.SIGKILL)
	}
}
