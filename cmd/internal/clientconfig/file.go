package clientconfig

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Extensions of the backups beside a file. One contains the file before the first change, the other marks that there
// was no file.
const (
	backupSuffix = ".mcp-pruner-backup"
	absentSuffix = ".mcp-pruner-new"
)

// File is a configuration file.
type File struct{ Path string }

// Backup returns the path of the file's content before the first change, which exists while the change is installed.
func (f File) Backup() string { return f.Path + backupSuffix }

// Read returns the file's content, or nil if there is no file.
func (f File) Read() ([]byte, error) {
	b, err := os.ReadFile(f.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return b, err
}

// Install applies edit to the file and keeps a backup of the original. A file that edit does not change is not
// written. It reports whether the file changed.
func (f File) Install(edit func([]byte) ([]byte, error)) (bool, error) {
	before, err := f.Read()
	if err != nil {
		return false, err
	}
	after, err := edit(before)
	if err != nil || bytes.Equal(before, after) {
		return false, err
	}
	if err := f.backUp(before); err != nil {
		return false, err
	}
	return true, f.write(after)
}

func (f File) backUp(before []byte) error {
	if f.exists(backupSuffix) || f.exists(absentSuffix) {
		return nil // only the state before the first change is kept
	}
	if before == nil {
		if err := os.MkdirAll(filepath.Dir(f.Path), 0o700); err != nil {
			return err
		}
		return os.WriteFile(f.Path+absentSuffix, nil, 0o600)
	}
	return os.WriteFile(f.Backup(), before, 0o600)
}

func (f File) exists(suffix string) bool {
	_, err := os.Stat(f.Path + suffix)
	return err == nil
}

// Uninstall undoes Install; install is the edit that Install was given. If nobody has changed the file since, it gets
// its original bytes back. Otherwise remove takes out our entries and leaves the rest; if it returns nil, the file is
// deleted.
func (f File) Uninstall(install, remove func([]byte) ([]byte, error)) (bool, error) {
	now, err := f.Read()
	if err != nil || now == nil {
		return false, errors.Join(err, f.dropBackups())
	}
	before, known := f.before()
	if known {
		if again, err := install(before); err == nil && bytes.Equal(again, now) {
			if before == nil {
				return true, f.settled(os.Remove(f.Path))
			}
			return true, f.settled(f.write(before))
		}
	}
	after, err := remove(now)
	if err != nil {
		return false, err
	}
	changed := !bytes.Equal(now, after)
	switch {
	case after == nil:
		err = os.Remove(f.Path)
	case changed:
		err = f.write(after)
	}
	return changed, f.settled(err)
}

// settled removes the backups after a change that succeeded. After one that failed they are still needed.
func (f File) settled(err error) error {
	if err != nil {
		return err
	}
	return f.dropBackups()
}

// before returns the file before the first change, or nil if there was none.
func (f File) before() (text []byte, known bool) {
	if f.exists(absentSuffix) {
		return nil, true
	}
	text, err := os.ReadFile(f.Backup())
	return text, err == nil
}

func (f File) dropBackups() error {
	var failed error
	for _, suffix := range []string{backupSuffix, absentSuffix} {
		if err := os.Remove(f.Path + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			failed = errors.Join(failed, err)
		}
	}
	return failed
}

// write replaces the file atomically, keeps its mode, and reads it back. A symbolic link stays a link.
func (f File) write(text []byte) error {
	path, err := filepath.EvalSymlinks(f.Path)
	if err != nil {
		path = f.Path
	}
	mode := fs.FileMode(0o600)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	temp, err := os.CreateTemp(filepath.Dir(path), ".mcp-pruner-*")
	if err != nil {
		return err
	}
	_, err = temp.Write(text)
	err = errors.Join(err, temp.Close(), os.Chmod(temp.Name(), mode))
	if err == nil {
		err = os.Rename(temp.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(temp.Name()))
	}
	if back, err := f.Read(); err != nil || !bytes.Equal(back, text) {
		return errors.Join(err, fmt.Errorf("%s does not have the text that was written", f.Path))
	}
	return nil
}
