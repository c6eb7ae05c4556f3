package setup

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// Extensions of the backups beside a file. One contains the file before the first change. The other marks that there
// was no file; only versions up to 0.1 wrote it.
const (
	backupSuffix = ".mcp-pruner-backup"
	absentSuffix = ".mcp-pruner-new"
)

// File is a configuration file.
type File struct {
	Path   string
	Syntax Syntax // how its client reads it
}

// Backup returns the path of the file's content before the first change, which exists while the change is installed.
func (f File) Backup() string { return f.Path + backupSuffix }

// Read returns the file's content, or nil if there is no file. Anything but a regular file, or a link to one, is an
// error and is not opened.
func (f File) Read() ([]byte, error) {
	path, info, err := f.target()
	if err != nil || info == nil {
		return nil, err
	}
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return b, bare(err)
}

// Check returns the error that Install would return for the file as it is now, whatever the change: it cannot be read
// by its client (an *Unreadable), or it is not safe to change.
func (f File) Check() error {
	text, err := f.Read()
	if err != nil {
		return err
	}
	if _, err := f.Syntax.Decode(text); err != nil {
		return err
	}
	return f.changeable()
}

// Install applies edit to the file and keeps a backup of the original. A file that edit does not change is not written.
// It reports whether the file changed. The file stays as it is if its client cannot read it before or after the change,
// or if one of the checks fails.
func (f File) Install(edit func([]byte) ([]byte, error), checks ...func(before, after []byte) error) (bool, error) {
	before, after, err := f.Plan(edit, checks...)
	if err != nil || bytes.Equal(before, after) {
		return false, err
	}
	return true, f.replace(before, after)
}

// Update is Install for a file that Install has changed before: its content is no original, so it is not backed up.
func (f File) Update(edit func([]byte) ([]byte, error), checks ...func(before, after []byte) error) (bool, error) {
	before, after, err := f.Plan(edit, checks...)
	if err != nil || bytes.Equal(before, after) {
		return false, err
	}
	return true, f.write(before, after)
}

// Plan does all of Install but the writing. It returns the file before and after the change.
func (f File) Plan(edit func([]byte) ([]byte, error), checks ...func(before, after []byte) error) (before, after []byte, err error) {
	if before, err = f.Read(); err != nil {
		return nil, nil, err
	}
	if _, err = f.Syntax.Decode(before); err != nil {
		return nil, nil, err
	}
	if after, err = edit(before); err != nil || bytes.Equal(before, after) {
		return before, after, err
	}
	if err = f.verify(before, after, checks); err != nil {
		return nil, nil, err
	}
	return before, after, f.changeable()
}

// verify compares what the client reads after a change with what it read before.
func (f File) verify(before, after []byte, checks []func(before, after []byte) error) error {
	if _, err := f.Syntax.Decode(after); err != nil {
		return fmt.Errorf("it is left as it is, because after the change it %w", err)
	}
	for _, check := range checks {
		if err := check(before, after); err != nil {
			return fmt.Errorf("it is left as it is: %w", err)
		}
	}
	return nil
}

// replace writes the file after its first content was backed up.
func (f File) replace(before, after []byte) error {
	if before == nil || exists(f.Backup()) || exists(f.Path+absentSuffix) {
		return f.write(before, after)
	}
	if err := f.backUp(before); err != nil {
		return err
	}
	if err := f.write(before, after); err != nil {
		return errors.Join(err, f.dropBackups())
	}
	return nil
}

// backUp writes the file's content beside it. Only the content before the first change is kept.
func (f File) backUp(before []byte) error {
	to, err := os.OpenFile(f.Backup(), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("a copy of it cannot be written beside it: %w", err)
	}
	_, err = to.Write(before)
	return errors.Join(err, to.Close())
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// Uninstall undoes Install; install is the edit that Install was given. If nobody has changed the file since, it gets
// its original bytes back. Otherwise remove takes out our entries and leaves the
// rest; if it returns nil, or nothing is left of a file that Install created, the file is deleted.
func (f File) Uninstall(install, remove func([]byte) ([]byte, error)) (bool, error) {
	now, err := f.Read()
	if err != nil {
		return false, err
	}
	if now == nil {
		return false, f.dropBackups()
	}
	before, after, err := f.undone(now, install, remove)
	if err != nil {
		return false, err
	}
	if bytes.Equal(now, after) && after != nil {
		return false, f.settled(nil)
	}
	if err := f.changeable(); err != nil {
		return false, err
	}
	if after == nil || before == nil && empty(after) {
		return true, f.settled(os.Remove(f.Path))
	}
	return true, f.settled(f.write(now, after))
}

// undone returns the file before the first change, nil if there was none, and the file without the change.
func (f File) undone(now []byte, install, remove func([]byte) ([]byte, error)) (before, after []byte, err error) {
	before, known := f.before()
	if known {
		if again, err := install(before); err == nil && bytes.Equal(again, now) {
			return before, before, nil
		}
	}
	if _, err := f.Syntax.Decode(now); err != nil {
		return nil, nil, err
	}
	if after, err = remove(now); err != nil {
		return nil, nil, err
	}
	return before, after, f.verify(now, after, nil)
}

// empty reports whether a file has no settings.
func empty(text []byte) bool {
	text = bytes.TrimSpace(text)
	return len(text) == 0 || string(text) == "{}"
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
	text, err := (File{Path: f.Backup()}).Read()
	if err != nil {
		return nil, false
	}
	return text, true
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
