package process

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// DieWithParent makes the kernel kill a child when the thread that started it ends.
func DieWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }

var living = listed

// listed lists the system's processes except zombies.
func listed() (all []entry) {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		fields := fieldsOf(path)
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
		all = append(all, entry{pid, parent, group, session})
	}
	return all
}

// fieldsOf returns the fields of a process's stat after its name: state parent group session ..., or none if there is no such
// process. The name, which is in parentheses, may hold anything.
func fieldsOf(path string) [][]byte {
	stat, _ := os.ReadFile(path)
	return bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
}

// Started returns the time at which a process started, in a form that is equal only for the same process. ok is false if
// there is no such process or the time cannot be known.
func Started(pid int) (start string, ok bool) {
	const ticks = 22 - 3 // since boot: field 22 of all
	fields := fieldsOf("/proc/" + strconv.Itoa(pid) + "/stat")
	if len(fields) <= ticks {
		return "", false
	}
	return string(fields[ticks]), true
}
