//go:build unix && !linux

package process

import "syscall"

// DieWithParent does nothing, because only Linux can kill a child when its parent dies. The watcher ends the
// remaining processes.
func DieWithParent(*syscall.SysProcAttr) {}

// living is nil: the system's processes are not known here.
var living func() []entry
