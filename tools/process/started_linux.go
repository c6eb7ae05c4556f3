package process

import (
	"bytes"
	"os"
	"strconv"
)

// Started returns the time at which a process started, in a form that is equal only for the same process. ok is false if
// there is no such process or the time cannot be known.
func Started(pid int) (start string, ok bool) {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return "", false
	}
	// Field 22 is the start in clock ticks since boot. Fields are counted after the name, which may hold anything.
	const startField = 22 - 3
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) <= startField {
		return "", false
	}
	return string(fields[startField]), true
}
