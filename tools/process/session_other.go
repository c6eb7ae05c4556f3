//go:build unix && !linux

package process

import "syscall"

// DieWithParent does nothing: only Linux tells a child that its parent died. The
// watcher ends what was left.
func DieWithParent(*syscall.SysProcAttr) {}

// session is not known here.
func session(int) []int { return nil }

// Living is not known here.
func Living() []Entry { return nil }
