//go:build unix

package setup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// replaceable returns the reason why a file should not be replaced by one that this process creates.
func replaceable(info fs.FileInfo) error {
	if info.Mode().Perm()&0o002 != 0 {
		return errors.New("every user of this machine may write it: take that away (chmod o-w), look at what it says, then try again")
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return nil
	}
	if stat.Nlink > 1 {
		return errors.New("it has a second name (a hard link), which would keep the old text: make it a symbolic link")
	}
	if uid := os.Geteuid(); int(stat.Uid) != uid {
		return fmt.Errorf("it belongs to the user with the id %d, and this is %d: run it as that user, or set HOME to your own home folder", stat.Uid, uid)
	}
	return nil
}

// ownedByUs returns an error if root would create a file in another user's folder, where that user could not change it.
func ownedByUs(dir string, info fs.FileInfo) error {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok || os.Geteuid() != 0 || stat.Uid == 0 {
		return nil
	}
	return fmt.Errorf("%s belongs to the user with the id %d, and this is root: run it as that user, or set HOME to root's home folder", dir, stat.Uid)
}
