//go:build unix && !linux

package process

import "syscall"

// dieWithUs does nothing: only Linux tells a child that its parent died. The
// watcher ends what was left.
func dieWithUs(*syscall.SysProcAttr) {}

// session is not known here.
func session(int) []int { return nil }
