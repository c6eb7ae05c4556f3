package tools

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// within resolves a path as text only: p, relative to dir (itself relative to
// the root), becomes a cleaned path relative to the root. It fails when the
// cleaned path is not below the root, in either of the root's spellings; on its
// way there it may leave the root and come back.
func (b *base) within(dir, p string) (string, bool) {
	for _, from := range []string{b.root, b.real} {
		path := filepath.Clean(p)
		if !filepath.IsAbs(p) {
			path = filepath.Join(from, dir, p)
		}
		for _, root := range []string{b.root, b.real} {
			if rel, err := filepath.Rel(root, path); err == nil && local(rel) {
				return rel, true
			}
		}
	}
	return "", false
}

// local says whether a cleaned relative path stays below its directory. Unlike
// filepath.IsLocal it looks at the text alone on every system.
func local(rel string) bool {
	return !filepath.IsAbs(rel) && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// pathArg checks one path and returns it relative to the root.
func (b *base) pathArg(a *arguments, name, dir, p string) string {
	rel, ok := b.within(dir, p)
	if !ok {
		a.bad(name, codeCustom)
	}
	return rel
}

// cwdArg is the optional cwd argument relative to the root, "." when missing.
// It is false when there is one that cannot be used.
func (b *base) cwdArg(a *arguments) (string, bool) {
	if _, given := a.given["cwd"]; !given {
		a.take("cwd")
		return ".", true
	}
	p, ok := a.optional("cwd", 0)
	if !ok {
		return ".", false
	}
	rel, ok := b.within(".", p)
	if !ok {
		a.bad("cwd", codeCustom)
		return ".", false
	}
	return rel, true
}

// errOutside says that a path leads out of the root through a symbolic link.
var errOutside = errors.New("leads out of the root through a symbolic link")

// resolve follows the symbolic links of a path below the root and returns the
// path of what it leads to, relative to the real root.
func (b *base) resolve(rel string) (string, error) {
	path := filepath.Join(b.real, rel)
	real, err := filepath.EvalSymlinks(path)
	if err != nil && b.endsOutside(rel) {
		return "", errOutside
	}
	if err != nil {
		// The system's own error says more: that of a loop can be recognised.
		if _, serr := os.Stat(path); serr != nil {
			return "", serr
		}
		return "", err
	}
	out, err := filepath.Rel(b.real, real)
	if err != nil || !local(out) {
		return "", errOutside
	}
	return out, nil
}

// maxLinks is how many symbolic links a path may lead through.
const maxLinks = 255

// endsOutside says whether a path that cannot be followed to its end leads out of
// the root as far as it goes. What is there, or is not, is then no concern of the
// caller's.
func (b *base) endsOutside(rel string) bool {
	at, rest := b.real, parts(rel)
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
	out, err := filepath.Rel(b.real, at)
	return err != nil || !local(out)
}

// parts are the names in a path as it stands, not cleaned: a ".." behind a link
// leads to where the link's target is.
func parts(path string) []string {
	return strings.FieldsFunc(path, func(r rune) bool { return r < utf8.RuneSelf && os.IsPathSeparator(uint8(r)) })
}

// directory resolves a working directory to its absolute path.
func (b *base) directory(rel string) (string, error) {
	real, err := b.resolve(rel)
	if err != nil {
		return "", err
	}
	info, err := os.Stat(filepath.Join(b.real, real))
	if err != nil {
		return "", err
	}
	if !info.IsDir() {
		return "", errors.New("not a directory")
	}
	return filepath.Join(b.root, rel), nil
}

// plainReason words a file system error without the paths and calls in it.
func plainReason(err error) string {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "no such file or directory"
	case errors.Is(err, fs.ErrPermission):
		return "permission denied"
	case isLoop(err):
		return "too many symbolic links"
	}
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err.Error()
	}
	return err.Error()
}

var errNotRegular = errors.New("not a regular file")

// open opens a regular file below the root for reading. It never waits: what is
// no regular file is not opened, and what takes the file's place between the
// look and the open is found out afterwards. Whatever is swapped in, os.Root
// does not leave the root.
func (b *base) open(rel string) (*os.File, int64, error) {
	root, err := os.OpenRoot(b.real)
	if err != nil {
		return nil, 0, err
	}
	defer root.Close()
	f, size, err := openRegular(root, rel)
	if err == nil || errors.Is(err, errNotRegular) || errors.Is(err, fs.ErrNotExist) {
		return f, size, err
	}
	// os.Root refuses absolute links even when they stay inside.
	real, rerr := b.resolve(rel)
	if rerr != nil {
		return nil, 0, rerr
	}
	if real == rel {
		return nil, 0, err
	}
	return openRegular(root, real)
}

func openRegular(root *os.Root, rel string) (*os.File, int64, error) {
	info, err := root.Stat(rel)
	if err != nil {
		return nil, 0, err
	}
	if !info.Mode().IsRegular() {
		return nil, 0, errNotRegular
	}
	f, err := root.OpenFile(rel, os.O_RDONLY|openNonblock, 0)
	if err != nil {
		return nil, 0, err
	}
	info, err = f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errNotRegular
	}
	if err != nil {
		_ = f.Close()
		return nil, 0, err
	}
	return f, info.Size(), nil
}
