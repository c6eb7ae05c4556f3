package setup

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/mcp-pruner/mcp-pruner/runnerfsm/setup/secret"
	"github.com/mcp-pruner/mcp-pruner/tools/files"
)

// target returns the path of the file itself, after links, and what is there: nil if there is no file. It opens
// nothing, because opening a named pipe would wait for its other end.
func (f File) target() (path string, info fs.FileInfo, err error) {
	info, err = os.Lstat(f.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return f.Path, nil, nil
	}
	if err != nil {
		return "", nil, bare(err)
	}
	path = f.Path
	if info.Mode()&fs.ModeSymlink != 0 {
		if path, err = filepath.EvalSymlinks(f.Path); err != nil {
			to, _ := os.Readlink(f.Path)
			return "", nil, fmt.Errorf("it is a link to %s, which cannot be followed: %w", to, bare(err))
		}
		if info, err = os.Stat(path); err != nil {
			return "", nil, bare(err)
		}
	}
	if !info.Mode().IsRegular() {
		return "", nil, fmt.Errorf("it is %s, not a file", kindOf(info.Mode()))
	}
	return path, info, nil
}

func kindOf(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "a folder"
	case mode&fs.ModeNamedPipe != 0:
		return "a named pipe"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	}
	return "a device"
}

// bare returns an error of the file system without the path, which the message names already.
func bare(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}

// changeable returns the reason why the file cannot be replaced safely.
func (f File) changeable() error {
	path, info, err := f.target()
	if err != nil {
		return err
	}
	if info == nil {
		return f.creatable()
	}
	if info.Mode().Perm()&0o200 == 0 {
		return errors.New("it is read-only: allow its owner to write it (chmod u+w), then try again")
	}
	if err := replaceable(info); err != nil {
		return err
	}
	return writableFolder(filepath.Dir(path))
}

// creatable returns the reason why the file cannot be created.
func (f File) creatable() error {
	dir := filepath.Dir(f.Path)
	for {
		switch _, err := os.Lstat(dir); {
		case errors.Is(err, fs.ErrNotExist) && filepath.Dir(dir) != dir:
			dir = filepath.Dir(dir)
			continue
		case err != nil:
			return bare(err)
		}
		info, err := os.Stat(dir)
		if err != nil {
			return fmt.Errorf("%s is a link that cannot be followed: %w", dir, bare(err))
		}
		if !info.IsDir() {
			return fmt.Errorf("%s is not a folder", dir)
		}
		if err := ownedByUs(dir, info); err != nil {
			return err
		}
		return writableFolder(dir)
	}
}

func writableFolder(dir string) error {
	if err := files.TryAtomic(dir); err != nil {
		return fmt.Errorf("the folder %s cannot be written: %w", dir, bare(err))
	}
	return nil
}

// write replaces the file atomically if it still has the content before, and keeps its mode. A symbolic link stays a
// link. What was written is read back before it takes the place of the file.
func (f File) write(before, text []byte) error {
	path, info, err := f.target()
	if err != nil {
		return err
	}
	mode := fs.FileMode(0o600)
	if info != nil {
		mode = info.Mode().Perm()
	}
	if secret.In(text) {
		mode &^= 0o077
	}
	return files.Atomic{Path: path, Mode: mode, Check: func(temp string) error { return f.unchanged(temp, before, text) }}.Write(text)
}

// unchanged checks that the disk returns the new text, and that the file still has the content before.
func (f File) unchanged(temp string, before, text []byte) error {
	if back, err := os.ReadFile(temp); err != nil || !bytes.Equal(back, text) {
		return errors.Join(err, errors.New("the disk does not return what was written; the file stays as it is"))
	}
	if now, err := f.Read(); err != nil || !bytes.Equal(now, before) {
		return errors.Join(err, errChanged)
	}
	return nil
}

var errChanged = errors.New("another program changed it at the same moment; try again")
