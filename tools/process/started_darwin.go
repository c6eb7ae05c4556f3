package process

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// Started returns the time at which a process started, in a form that is equal only for the same process. ok is false if
// there is no such process or the time cannot be known.
func Started(pid int) (start string, ok bool) {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil || int(info.Proc.P_pid) != pid {
		return "", false
	}
	return fmt.Sprintf("%d.%06d", info.Proc.P_starttime.Sec, info.Proc.P_starttime.Usec), true
}
