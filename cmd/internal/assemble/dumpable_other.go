//go:build !linux

package assemble

// closeProc does nothing, because only Linux shows a process's files and memory under /proc.
func closeProc() {}
