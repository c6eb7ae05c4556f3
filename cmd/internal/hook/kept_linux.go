package hook

import (
	"os"
	"strconv"
)

// canKeep reports whether this system tells the path of an open file.
const canKeep = true

// pathOf returns the path of an open file.
func pathOf(f *os.File) string {
	path, err := os.Readlink("/proc/self/fd/" + strconv.Itoa(int(f.Fd())))
	if err != nil {
		return ""
	}
	return path
}
