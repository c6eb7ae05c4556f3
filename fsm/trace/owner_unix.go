//go:build unix

package trace

import (
	"io/fs"
	"syscall"
)

// noFollow makes opening a symbolic link fail.
const noFollow = syscall.O_NOFOLLOW

// othersMayWrite reports whether users other than the file's owner may write to it.
func othersMayWrite(info fs.FileInfo) bool {
	return info.Mode().IsRegular() && info.Mode().Perm()&0o022 != 0
}
