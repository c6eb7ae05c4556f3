package trace

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// ready makes sure that t.file is open and is the file at its path. It rotates a file that
// is too large or too old, and continues with the open file if it cannot.
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
			t.tell(err)
			if errors.Is(err, errors.ErrUnsupported) { // it would be reported again for each batch
				t.options.MaxBytes, t.options.MaxAge = 0, 0
			}
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

// asides lists the rotated files, oldest first.
func (t *File) asides() ([]string, error) {
	files, err := filepath.Glob(globEscape(t.path) + ".[0-9]*Z-*")
	slices.Sort(files)
	return files, err
}

// globEscape escapes a path so that Glob takes it literally.
func globEscape(path string) string {
	return strings.NewReplacer(`*`, `[*]`, `?`, `[?]`, `[`, `[[]`).Replace(path)
}

// forget removes the rotated files that exceed Options.Keep.
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

// rotate renames the file, unless another process has just done so. Only the holder of the
// lock may rename. A process that does not get the lock does not wait: it tries again with
// the next record. Processes that still write to the renamed file do no harm, and notice
// within lookEvery or at their own next rotation.
func (t *File) rotate() error {
	unlock, err := t.options.lock(t.file)
	if errors.Is(err, errLocked) {
		if !t.inPlace() { // another process has rotated it
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

// aside returns the name for a rotated file. It is unique to this process and sorts by
// time.
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
		_ = t.file.Close() // there is no buffer, so a failed close loses nothing
		t.file = nil
	}
}
