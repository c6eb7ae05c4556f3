//go:build unix

package main

import (
	"os"
	"runtime"
	"syscall"
)

// maxResident is the largest resident set of an ended process, in MiB.
func maxResident(s *os.ProcessState) float64 {
	usage, ok := s.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	if runtime.GOOS == "darwin" {
		return float64(usage.Maxrss) / (1 << 20) // bytes there, KiB elsewhere
	}
	return float64(usage.Maxrss) / (1 << 10)
}
