package keeper

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

const prSetChildSubreaper = 36 // PR_SET_CHILD_SUBREAPER of prctl(2)

// adoptOrphans makes this process the parent of every descendant whose own
// parent dies, so that none can slip away to init.
func adoptOrphans() {
	_, _, _ = syscall.RawSyscall(syscall.SYS_PRCTL, prSetChildSubreaper, 1, 0)
}

// dieWithParent ends the command should the keeper itself be killed.
func dieWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }

// below lists the living descendants of a process.
func below(root int) []int {
	children := make(map[int][]int)
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		if pid, parent, ok := readStat(path); ok {
			children[parent] = append(children[parent], pid)
		}
	}
	var found []int
	for queue := children[root]; len(queue) > 0; queue = queue[1:] {
		found = append(found, queue[0])
		queue = append(queue, children[queue[0]]...)
	}
	return found
}

// readStat reads "pid (name) state parent ..."; the name may hold anything. The
// dead that wait to be collected do not count.
func readStat(path string) (pid, parent int, alive bool) {
	stat, err := os.ReadFile(path)
	if err != nil {
		return 0, 0, false
	}
	pid, err = strconv.Atoi(filepath.Base(filepath.Dir(path)))
	if err != nil {
		return 0, 0, false
	}
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 2 {
		return 0, 0, false
	}
	parent, err = strconv.Atoi(string(fields[1]))
	return pid, parent, err == nil && fields[0][0] != 'Z' && fields[0][0] != 'X'
}
