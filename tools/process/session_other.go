//go:build unix && !linux

package process

import "syscall"

// DieWithParent does nothing: only Linux tells a child that its parent died. The
// watcher ends what was left.
func DieWithParent(*syscall.SysProcAttr) {}

// strays are not known here.
func (family) strays() []int { return nil }

func (f family) alive() bool { return syscall.Kill(-f.leader, 0) == nil }

// Living is not known here.
func Living() []Entry { return nil }
