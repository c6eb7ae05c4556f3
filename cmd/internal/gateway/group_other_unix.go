//go:build unix && !linux

package gateway

import "syscall"

// groupAttributes put the process in a group of its own.
func groupAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
