package verbs

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
)

// hideEntries blanks entries of this process's environment in /proc/PID/environ, which the commands it runs can read,
// too. The process itself keeps the copy that it made before.
func hideEntries(hidden func(name string) bool) error {
	start, end, err := environArea()
	if err != nil {
		return err
	}
	memory, err := os.OpenFile("/proc/self/mem", os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer memory.Close()
	area := make([]byte, end-start)
	if _, err := memory.ReadAt(area, start); err != nil {
		return fmt.Errorf("read the environment: %w", err)
	}
	if _, err := memory.WriteAt(withoutEntries(area, hidden), start); err != nil {
		return fmt.Errorf("write the environment: %w", err)
	}
	return nil
}

// withoutEntries returns an environment of the same length without the hidden entries, filled up with NUL bytes.
func withoutEntries(area []byte, hidden func(name string) bool) []byte {
	kept := make([]byte, 0, len(area))
	for entry := range bytes.SplitAfterSeq(area, []byte{0}) {
		name, _, _ := bytes.Cut(entry, []byte("="))
		if !hidden(string(name)) {
			kept = append(kept, entry...)
		}
	}
	return append(kept, make([]byte, len(area)-len(kept))...)
}

// environArea returns the address range of the environment: fields 50 and 51 of /proc/self/stat, see
// proc_pid_stat(5).
func environArea() (start, end int64, err error) {
	stat, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return 0, 0, err
	}
	const afterName = 3 // number of the first field after the name, which may contain any characters
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) <= 51-afterName {
		return 0, 0, fmt.Errorf("/proc/self/stat has %d fields", len(fields)+afterName-1)
	}
	start, err = strconv.ParseInt(string(fields[50-afterName]), 10, 64)
	if err == nil {
		end, err = strconv.ParseInt(string(fields[51-afterName]), 10, 64)
	}
	if err == nil && (start <= 0 || end < start) {
		err = fmt.Errorf("no environment from %d to %d", start, end)
	}
	return start, end, err
}
