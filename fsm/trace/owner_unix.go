//go:build unix

package trace

import (
	"io/fs"
	"syscall"
)

// noFollow makes opening a symbolic link fail.
const noFollow = syscall.O_NOFOLLOW

// othersMayWrite says whether a file can be changed by others than its owner.
func othersMayWrite(info fs.FileInfo) bool {
	return info.Mode().IsRegular() && info.Mode().Perm()&0o022 != 0
}
