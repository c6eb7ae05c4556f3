package gateway

import "syscall"

// groupAttributes put the process in a group of its own, which dies with us.
func groupAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
