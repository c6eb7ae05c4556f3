package assemble

import "golang.org/x/sys/unix"

// closeProc keeps other processes of the same user out of this process's files and memory: /proc/PID/fd, mem and environ
// then belong to root, and nobody but root may trace the process. An agent's command could otherwise open the trace
// through /proc/$PPID/fd and read the key of its signatures in memory. It does not stop a signal. Programs that this
// process starts are open again. A kernel that refuses is no reason to keep no trace.
func closeProc() { _ = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) }
