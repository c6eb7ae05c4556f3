package trace

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// ready makes the file the one at its path, and neither larger nor older than it may be.
func (t *File) ready() error {
	if t.file == nil {
		return t.open()
	}
	if now := time.Now(); now.Sub(t.looked) > lookEvery {
		t.looked = now
		if !t.inPlace() {
			t.drop()
			return t.open()
		}
	}
	if t.full() || t.old() {
		if err := t.rotate(); err != nil {
			t.tell(err) // and goes on in the file there is
		}
	}
	if t.file == nil {
		return t.open()
	}
	return nil
}

func (t *File) old() bool {
	return t.options.MaxAge > 0 && !t.began.IsZero() && time.Since(t.began) > t.options.MaxAge
}

// asides lists the files that were put aside, the oldest first.
func (t *File) asides() ([]string, error) {
	files, err := filepath.Glob(globEscape(t.path) + ".[0-9]*Z-*")
	slices.Sort(files)
	return files, err
}

// forget removes the files that are not to be kept any longer.
func (t *File) forget() error {
	if t.options.Keep <= 0 {
		return nil
	}
	files, err := t.asides()
	for len(files) > t.options.Keep && err == nil {
		if err = os.Remove(files[0]); err == nil && t.options.Removed != nil {
			t.options.Removed(filepath.Base(files[0]))
		}
		files = files[1:]
	}
	return err
}

func (t *File) full() bool {
	if t.options.MaxBytes == 0 {
		return false
	}
	info, err := t.file.Stat()
	return err == nil && info.Size() >= t.options.MaxBytes && info.Mode().IsRegular()
}

// errLocked: somebody else holds the lock.
var errLocked = errors.New("the file is locked")

// rotate puts the file aside, unless another process has just done so. Only who
// holds the lock may, and nobody waits for it: the next record tries again.
// Processes that still write to the file that was put aside do no harm, and find
// out within lookEvery or at their own next rotation.
func (t *File) rotate() error {
	unlock, err := lockFile(t.file)
	if errors.Is(err, errLocked) {
		if !t.inPlace() { // and has put it aside
			t.drop()
		}
		return nil
	}
	if err != nil {
		return fmt.Errorf("lock %s: %w", t.path, err)
	}
	if t.inPlace() {
		err = os.Rename(t.path, t.aside())
	}
	unlock()
	if err == nil {
		t.drop()
		err = t.forget()
	}
	return err
}

// aside is a name that no other process chooses and that sorts by time.
func (t *File) aside() string {
	return t.path + "." + time.Now().UTC().Format("20060102T150405.000000000Z") + "-" + t.writer
}

func (t *File) inPlace() bool {
	mine, err := t.file.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(t.path)
	return err == nil && os.SameFile(mine, there)
}

func (t *File) drop() {
	if t.file != nil {
		_ = t.file.Close() // every line was written as it came; closing adds nothing
		t.file = nil
	}
}
