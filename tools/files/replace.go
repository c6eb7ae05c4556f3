package files

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Atomic says where and how to write. A symbolic link at Path is replaced itself: resolve it first to keep it.
type Atomic struct {
	Path string      // missing parent folders are made, for their owner only
	Mode fs.FileMode // permissions; 0 means 0600
	New  bool        // do not replace a file: fail with fs.ErrExist
	Fast bool        // do not wait for the disk: after a crash of the system the file may be lost or empty

	// Check, if set, looks at the complete temporary file before it takes its place; an error leaves everything as it was.
	Check func(temp string) error
}

// Write writes the parts of the content, one after the other. After an error the old file is still there, and no temporary
// file is left.
func (f Atomic) Write(parts ...[]byte) error {
	return f.write(func(temp *os.File) error {
		for _, part := range parts {
			if _, err := temp.Write(part); err != nil {
				return err
			}
		}
		return nil
	})
}

// WriteText writes a text after a head. It does not copy the text, which can be long.
func (f Atomic) WriteText(head []byte, text string) error {
	return f.write(func(temp *os.File) error {
		if _, err := temp.Write(head); err != nil {
			return err
		}
		_, err := temp.WriteString(text)
		return err
	})
}

func (f Atomic) write(fill func(*os.File) error) error {
	dir := filepath.Dir(f.Path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	temp, err := os.CreateTemp(dir, ".mcp-pruner-*")
	if err != nil {
		return err
	}
	if err = fill(temp); err == nil && !f.Fast {
		err = temp.Sync()
	}
	err = errors.Join(err, temp.Close())
	if err == nil {
		err = f.place(temp.Name())
	}
	if err != nil || f.New {
		_ = os.Remove(temp.Name()) // a new file is a second link to it
	}
	return err
}

// place gives a temporary file its final name.
func (f Atomic) place(temp string) error {
	if err := os.Chmod(temp, cmp.Or(f.Mode, 0o600)); err != nil {
		return err
	}
	if f.Check != nil {
		if err := f.Check(temp); err != nil {
			return err
		}
	}
	if f.New {
		if err := os.Link(temp, f.Path); err == nil || errors.Is(err, fs.ErrExist) {
			return err
		}
		if _, err := os.Lstat(f.Path); err == nil { // a file system without links
			return &fs.PathError{Op: "link", Path: f.Path, Err: fs.ErrExist}
		}
	}
	return os.Rename(temp, f.Path)
}

// TryAtomic returns the reason why no file can be written in a folder, or nil. It makes a file, which it removes.
func TryAtomic(dir string) error {
	temp, err := os.CreateTemp(dir, ".mcp-pruner-*")
	if err != nil {
		return err
	}
	return errors.Join(temp.Close(), os.Remove(temp.Name()))
}
