package hook

import (
	"bytes"
	"os"
	"syscall"
	"unsafe"
)

const canKeep = true

// pathOf returns the path of an open file, as the system says it (F_GETPATH).
func pathOf(f *os.File) string {
	var path [1024]byte // MAXPATHLEN
	_, _, errno := syscall.Syscall(syscall.SYS_FCNTL, f.Fd(), syscall.F_GETPATH, uintptr(unsafe.Pointer(&path[0])))
	if errno != 0 {
		return ""
	}
	text, _, _ := bytes.Cut(path[:], []byte{0})
	return string(text)
}
