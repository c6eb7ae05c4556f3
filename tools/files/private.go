package files

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// ErrNotPrivate is the error of a file that is not what ReadPrivate reads.
var ErrNotPrivate = errors.New("is not a regular file of this user in the expected folder")

// ReadPrivate reads a file that stands directly in a folder and that only this user can have put there: folder and file
// belong to the user, the file is regular and has no second name, and neither is a symbolic link. A file that is replaced
// while it is opened is not read. most is the size in bytes of the largest file that is read.
func ReadPrivate(folder, path string, most int64) ([]byte, error) {
	folder, path = filepath.Clean(folder), filepath.Clean(path)
	if !filepath.IsAbs(folder) || filepath.Dir(path) != folder {
		return nil, fmt.Errorf("%s %w", path, ErrNotPrivate)
	}
	info, err := os.Lstat(folder)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() || !ownedByUser(info) {
		return nil, fmt.Errorf("%s %w", path, ErrNotPrivate)
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	if opened, err := root.Stat("."); err != nil || !os.SameFile(info, opened) {
		return nil, errors.Join(fmt.Errorf("%s %w", path, ErrNotPrivate), err)
	}
	return readIn(root, filepath.Base(path), most)
}

func readIn(root *os.Root, name string, most int64) ([]byte, error) {
	before, err := root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !before.Mode().IsRegular() {
		return nil, fmt.Errorf("%s %w", name, ErrNotPrivate)
	}
	file, err := root.OpenFile(name, os.O_RDONLY|openNonblock|openNoLink, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	switch {
	case err != nil:
		return nil, err
	case !os.SameFile(before, info) || !ownedByUser(info) || !hasOneName(info):
		return nil, fmt.Errorf("%s %w", name, ErrNotPrivate)
	case info.Size() > most:
		return nil, fmt.Errorf("%s: %w", name, ErrTooLarge)
	}
	text, err := io.ReadAll(io.LimitReader(file, most+1))
	if err == nil && int64(len(text)) > most {
		err = fmt.Errorf("%s: %w", name, ErrTooLarge)
	}
	return text, err
}

// ErrTooLarge is the error of a file that exceeds the limit.
var ErrTooLarge = fmt.Errorf("too large: %w", fs.ErrInvalid)
