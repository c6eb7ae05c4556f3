package process

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
)

// DieWithParent makes the kernel kill a child when the thread that started it ends.
func DieWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }

// strays lists the living processes that left the leader's process group, like those started by timeout(1) and by
// shells with job control, or its session, like daemons.
func (f family) strays() (pids []int) {
	for _, l := range Living() {
		if l.Group != f.leader && f.includes(l) {
			pids = append(pids, l.PID)
		}
	}
	return pids
}

// alive does not use kill(2), because that also finds processes that have ended and that nobody waits for, as in a
// container without an init process.
func (f family) alive() bool { return slices.ContainsFunc(Living(), f.includes) }

func (f family) includes(l Entry) bool {
	return l.Group == f.leader || l.Session == f.leader || f.marked(l.PID)
}

// marked reports whether a process has the family's mark. The environment cannot be read if the process belongs to
// another user or has dropped it.
func (f family) marked(pid int) bool {
	if f.mark == "" {
		return false
	}
	env, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	return bytes.Contains(env, []byte(MarkVariable+"="+f.mark))
}

// Living lists the system's processes except zombies. It is empty on systems other than Linux.
func Living() (all []Entry) {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		stat, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		// pid (name) state parent group session ...; the name may hold anything.
		fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
		if len(fields) < 4 || fields[0][0] == 'Z' || fields[0][0] == 'X' {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if err != nil {
			continue
		}
		parent, _ := strconv.Atoi(string(fields[1]))
		group, _ := strconv.Atoi(string(fields[2]))
		session, _ := strconv.Atoi(string(fields[3]))
		all = append(all, Entry{pid, parent, group, session})
	}
	return all
}
