package gateway

import "os/exec"

// processGroup is an upstream's process.
type processGroup struct{ cmd *exec.Cmd }

func (g *processGroup) prepare(cmd *exec.Cmd) { g.cmd = cmd }

// kill ends the process.
func (g *processGroup) kill() {
	if g.cmd != nil && g.cmd.Process != nil {
		_ = g.cmd.Process.Kill()
	}
}
