//go:build !linux

package stores

// CloseProc does nothing, because only Linux shows a process's files and memory under /proc.
func CloseProc() {}
