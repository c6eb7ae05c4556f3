package trace

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"slices"
	"time"
)

// A pipe or a terminal that nobody reads lets its writer wait.
var errNotAFile = errors.New("it is neither a file nor a device like /dev/null that no writer waits for")

// harmless are the devices that never let a writer wait.
var harmless = []string{os.DevNull, "/dev/null", "/dev/zero", "/dev/full"}

func isHarmless(info fs.FileInfo) bool {
	if info.Mode().IsRegular() {
		return true
	}
	return info.Mode()&fs.ModeCharDevice != 0 && slices.ContainsFunc(harmless, func(device string) bool {
		known, err := os.Stat(device)
		return err == nil && os.SameFile(info, known)
	})
}

// errOthers: whoever may write to the file can change it.
var errOthers = errors.New("others than its owner may write to it: chmod go-w")

// open opens the file at the path. A symlink there is refused: whoever placed it chooses
// what is written to.
func (t *File) open() error {
	info, err := os.Lstat(t.path)
	refuse := func(why error) error { return &fs.PathError{Op: "open", Path: t.path, Err: why} }
	switch {
	case err != nil:
	case info.Mode()&fs.ModeSymlink != 0:
		return refuse(errors.New("it is a symbolic link: give the file itself"))
	case !isHarmless(info): // opening a pipe may wait for ever
		return refuse(errNotAFile)
	case othersMayWrite(info):
		return refuse(errOthers)
	}
	f, err := os.OpenFile(t.path, os.O_WRONLY|os.O_APPEND|os.O_CREATE|noFollow, 0o600)
	if err != nil {
		return err
	}
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o077 != 0 {
		_ = f.Chmod(0o600) // what tools were called is nobody else's business; a file of another owner stays as it is
	}
	if breaksOff(t.path) {
		if _, err := f.Write([]byte("\n")); err != nil {
			_ = f.Close()
			return err
		}
	}
	t.file, t.looked, t.began = f, time.Now(), began(t.path)
	return nil
}

// began is when a file's first record was made; now for a file that has none.
func began(path string) time.Time {
	f, err := os.Open(path)
	if err != nil {
		return time.Now()
	}
	defer f.Close()
	head := make([]byte, 4<<10)
	n, _ := f.Read(head)
	const member = `,"start":"`
	at := bytes.Index(head[:n], []byte(member))
	if at < 0 || at+len(member)+len(startLayout) > n {
		return time.Now()
	}
	at += len(member)
	start, err := parseStart(string(head[at : at+len(startLayout)]))
	if err != nil {
		return time.Now()
	}
	return start
}

// breaksOff says whether the file's last line lacks its end: its writer was
// killed, or the disk was full.
func breaksOff(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() == 0 {
		return false
	}
	var last [1]byte
	_, err = f.ReadAt(last[:], info.Size()-1)
	return err == nil && last[0] != '\n'
}
