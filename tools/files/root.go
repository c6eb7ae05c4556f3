// Package files reads files below one directory. Paths cannot leave that directory, and bytes of any encoding become
// UTF-8 of limited length. Atomic writes files that are never seen incomplete: the content goes to a temporary file beside the
// final one, which then takes its place in one step. StateDir is where this program keeps data between runs.
package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"unicode/utf8"
)

// Root is a directory that no path may leave, in the two spellings that a client may use for it.
type Root struct {
	Given string // absolute, as given
	Real  string // absolute, symbolic links resolved
}

// NewRoot checks that the directory exists.
func NewRoot(dir string) (*Root, error) {
	given, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("root %q: %w", dir, err)
	}
	real, err := filepath.EvalSymlinks(given)
	if err != nil {
		return nil, fmt.Errorf("root: %w", err)
	}
	if info, err := os.Stat(real); err != nil || !info.IsDir() {
		return nil, fmt.Errorf("root %s is not a directory", given)
	}
	return &Root{given, real}, nil
}

// Within resolves a path. p is relative to dir, which is relative to the root; the result is a cleaned path relative to the
// root. It fails if the cleaned path is not below the root. The path before cleaning may leave the root and return. It looks at
// the disk only for an absolute path that begins with neither spelling of the root.
func (r *Root) Within(dir, p string) (string, bool) {
	for _, from := range []string{r.Given, r.Real} {
		path := filepath.Clean(p)
		if !filepath.IsAbs(p) {
			path = filepath.Join(from, dir, p)
		}
		for _, root := range []string{r.Given, r.Real} {
			if rel, err := filepath.Rel(root, path); err == nil && Local(rel) {
				return rel, true
			}
		}
	}
	if filepath.IsAbs(p) {
		return r.linked(filepath.Clean(p))
	}
	return "", false
}

// linked resolves a path that names the root by a link: on macOS /tmp is /private/tmp, and a client may say either of the root
// that the other names. The path is below the root if one of the folders above it is the root itself.
func (r *Root) linked(path string) (string, bool) {
	root, err := os.Stat(r.Real)
	if err != nil {
		return "", false
	}
	at := path
	for range maxLinks {
		if info, err := os.Stat(at); err == nil && os.SameFile(root, info) {
			rel, err := filepath.Rel(at, path)
			return rel, err == nil
		}
		at = filepath.Dir(at)
	}
	return "", false
}

// Local reports whether a cleaned relative path stays below its directory. Unlike filepath.IsLocal it has the same
// result on every system.
func Local(rel string) bool {
	return !filepath.IsAbs(rel) && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// ErrOutside is the error of a path that leaves the root through a symbolic link.
var ErrOutside = errors.New("leads out of the root through a symbolic link")

// maxPath is longer than a path may be on any system. Longer ones are not looked up, because that copies them many times.
const maxPath = 64 << 10

// Resolve follows the symbolic links of a path below the root, and returns the target's path relative to the real
// root.
func (r *Root) Resolve(rel string) (string, error) {
	if len(rel) > maxPath {
		return "", syscall.ENAMETOOLONG
	}
	path := filepath.Join(r.Real, rel)
	real, err := filepath.EvalSymlinks(path)
	if err != nil && r.endsOutside(rel) {
		return "", ErrOutside
	}
	if err != nil {
		// The system's own error is more precise. That of a loop can be recognized.
		if _, serr := os.Stat(path); serr != nil {
			return "", serr
		}
		return "", err
	}
	out, err := filepath.Rel(r.Real, real)
	if err != nil || !Local(out) {
		return "", ErrOutside
	}
	return out, nil
}

// maxLinks is the maximum number of symbolic links in a path.
const maxLinks = 255

// endsOutside reports whether the part of an unresolvable path that can be followed leaves the root. The caller must
// then not learn whether the target exists.
func (r *Root) endsOutside(rel string) bool {
	at, rest := r.Real, parts(rel)
	for links := 0; len(rest) > 0 && links < maxLinks; {
		next := filepath.Join(at, rest[0]) // also where it is ".."
		rest = rest[1:]
		info, err := os.Lstat(next)
		if err != nil {
			at = next
			break
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			at = next
			continue
		}
		target, err := os.Readlink(next)
		if err != nil {
			break
		}
		if filepath.IsAbs(target) {
			at = filepath.VolumeName(target) + string(filepath.Separator)
			target = target[len(filepath.VolumeName(target)):]
		}
		rest = append(parts(target), rest...)
		links++
	}
	out, err := filepath.Rel(r.Real, at)
	return err != nil || !Local(out)
}

// parts returns the names in an uncleaned path, because a ".." after a link refers to the folder of the link's
// target.
func parts(path string) []string {
	return strings.FieldsFunc(path, func(r rune) bool { return r < utf8.RuneSelf && os.IsPathSeparator(uint8(r)) })
}

// Directory resolves a working directory to its absolute path.
func (r *Root) Directory(rel string) (string, error) {
	real, err := r.Resolve(rel)
	if err != nil {
		return "", err
	}
	info, err := os.Stat(filepath.Join(r.Real, real))
	if err != nil {
		return "", err
	}
	if !info.IsDir() {
		return "", errors.New("not a directory")
	}
	return filepath.Join(r.Given, rel), nil
}

// PlainReason returns the text of a file system error without the paths and system calls in it.
func PlainReason(err error) string {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "no such file or directory"
	case errors.Is(err, fs.ErrPermission):
		return "permission denied"
	case IsLoop(err):
		return "too many symbolic links"
	}
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err.Error()
	}
	return err.Error()
}

// ErrNotRegular is the error of a path that names a directory, a device or another kind of special file.
var ErrNotRegular = errors.New("not a regular file")

// Open opens a regular file below the root for reading. It never waits, because other kinds of files are not opened.
// If the file is replaced between the check and the open, a second check finds that out, and os.Root makes sure that
// the replacement is below the root.
func (r *Root) Open(rel string) (*os.File, int64, error) {
	root, err := os.OpenRoot(r.Real)
	if err != nil {
		return nil, 0, err
	}
	defer root.Close()
	f, size, err := OpenRegular(root, rel)
	if err == nil || errors.Is(err, ErrNotRegular) || errors.Is(err, fs.ErrNotExist) {
		return f, size, err
	}
	// os.Root refuses absolute links even if their targets are below the root.
	real, rerr := r.Resolve(rel)
	if rerr != nil {
		return nil, 0, rerr
	}
	if real == rel {
		return nil, 0, err
	}
	return OpenRegular(root, real)
}

// OpenRegular opens a regular file below an open root, without ever waiting, and returns its size.
func OpenRegular(root *os.Root, rel string) (*os.File, int64, error) {
	info, err := root.Stat(rel)
	if err != nil {
		return nil, 0, err
	}
	if !info.Mode().IsRegular() {
		return nil, 0, ErrNotRegular
	}
	f, err := root.OpenFile(rel, os.O_RDONLY|openNonblock, 0)
	if err != nil {
		return nil, 0, err
	}
	info, err = f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = ErrNotRegular
	}
	if err != nil {
		_ = f.Close()
		return nil, 0, err
	}
	return f, info.Size(), nil
}
