package trace

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"slices"
	"time"
)

// Writing to a pipe or a terminal blocks while nothing reads from it.
var errNotAFile = errors.New("it is neither a file nor a device like /dev/null that no writer waits for")

// harmless lists the devices to which a write never blocks.
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

// errOthers: anyone with write permission could change the records.
var errOthers = errors.New("others than its owner may write to it: chmod go-w")

// open opens the file at the path. It refuses a symbolic link, because whoever created the
// link decides which file is written.
func (t *File) open() error {
	info, err := os.Lstat(t.path)
	refuse := func(why error) error { return &fs.PathError{Op: "open", Path: t.path, Err: why} }
	switch {
	case err != nil:
	case info.Mode()&fs.ModeSymlink != 0:
		return refuse(errors.New("it is a symbolic link: give the file itself"))
	case !isHarmless(info): // opening a pipe may block for ever
		return refuse(errNotAFile)
	case othersMayWrite(info):
		return refuse(errOthers)
	}
	f, err := os.OpenFile(t.path, os.O_WRONLY|os.O_APPEND|os.O_CREATE|noFollow, 0o600)
	if err != nil {
		return err
	}
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o077 != 0 {
		_ = f.Chmod(0o600) // tool names are private; another owner's file keeps its mode
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

// began returns the time of a file's first record, or the current time if the file has
// none.
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

// breaksOff reports whether the file's last line lacks its newline: its writer was killed,
// or the disk was full.
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
