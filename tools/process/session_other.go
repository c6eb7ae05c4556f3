//go:build unix && !linux

package process

import "syscall"

// DieWithParent does nothing, because only Linux can kill a child when its parent dies. The watcher ends the
// remaining processes.
func DieWithParent(*syscall.SysProcAttr) {}

// strays returns nil: these processes are not known here.
func (family) strays() []int { return nil }

func (f family) alive() bool { return syscall.Kill(-f.leader, 0) == nil }

// Living returns nil: the system's processes are not known here.
func Living() []Entry { return nil }
