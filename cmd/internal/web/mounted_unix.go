//go:build unix

package web

import (
	"io/fs"
	"os"
	"syscall"
)

// isMounted reports whether a file belongs to root and this program is not root's, as with the secrets that an orchestrator
// mounts into a container: only the file's group can admit the program.
func isMounted(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && stat.Uid == 0 && os.Geteuid() != 0
}
