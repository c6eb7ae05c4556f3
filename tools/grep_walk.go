package tools

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// walk finds the files a search looks at, in the order and by the rules of rg:
// no hidden files, nothing that ignore files name, no symbolic links.
type walk struct {
	dir    string // where the glob starts from
	glob   *ignoreRule
	failed []string // directories that could not be read
}

func newWalk(root, dir, glob string) (*walk, error) {
	w := &walk{dir: dir}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		w.dir = real
	}
	said := ignoreLine(glob) // to rg a glob is a line of an ignore file
	if said == "" {
		return w, nil
	}
	w.glob = parseIgnore(said)
	if w.glob == nil || !doublestar.ValidatePattern(w.glob.pattern) {
		return nil, fmt.Errorf("glob %q cannot be understood", quoted(glob))
	}
	return w, nil
}

func (w *walk) complaint() error {
	if len(w.failed) == 0 {
		return nil
	}
	said := newComplaints()
	_, _ = said.Write([]byte(strings.Join(w.failed, "\n")))
	return errors.New(said.text(""))
}

// search hands over the files below one search path. A file that is named is
// searched whatever the rules say.
func (w *walk) search(ctx context.Context, path string, dir bool, add func(string) error) error {
	if !dir {
		return add(path)
	}
	return w.below(ctx, path, levelsAbove(path), add)
}

func (w *walk) below(ctx context.Context, dir string, above *ignoreLevel, add func(string) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		w.failed = append(w.failed, filepath.Base(dir)+": "+plainReason(err))
	}
	level := newIgnoreLevel(dir, above, entries)
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if !e.IsDir() && !e.Type().IsRegular() || !w.wanted(level, path, e.IsDir()) {
			continue
		}
		if e.IsDir() {
			err = w.below(ctx, path, level, add)
		} else {
			err = add(path)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// wanted applies the glob, which beats everything, then the ignore files, then
// the rule that hidden files stay hidden unless an ignore file brings them back.
func (w *walk) wanted(level *ignoreLevel, path string, dir bool) bool {
	if w.glob != nil {
		if w.glob.matches(w.dir, path, dir) {
			return !w.glob.negated
		}
		if !w.glob.negated && !dir {
			return false
		}
	}
	switch level.verdict(path, dir) {
	case ignored:
		return false
	case allowed:
		return true
	}
	return !strings.HasPrefix(filepath.Base(path), ".")
}
