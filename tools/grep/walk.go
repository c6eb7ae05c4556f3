package grep

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/tools/files"
)

// walk finds the files to search by rg's rules: no hidden files, no ignored files, no
// symbolic links.
type walk struct {
	dir    string // directory to which the glob is relative
	glob   *globFilter
	failed []string // directories that could not be read
}

func (w *walk) complaint() error {
	if len(w.failed) == 0 {
		return nil
	}
	said := newComplaints()
	_, _ = said.Write([]byte(strings.Join(w.failed, "\n")))
	return errors.New(said.text(""))
}

// search calls add with the files below one search path. A file that the call names is
// searched regardless of the rules.
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
		w.failed = append(w.failed, filepath.Base(dir)+": "+files.PlainReason(err))
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

// wanted applies the ignore files; then the rule that hidden files are skipped unless an
// ignore file includes them or the glob names them; then the glob.
func (w *walk) wanted(level *ignoreLevel, path string, dir bool) bool {
	if w.glob != nil && w.glob.rule.negated && w.glob.rule.matches(w.dir, path, dir) {
		return false
	}
	switch level.verdict(path, dir) {
	case ignored:
		return false
	case undecided:
		if strings.HasPrefix(filepath.Base(path), ".") && !w.glob.unhides(w.dir, path, dir) {
			return false
		}
	}
	return dir || w.glob.wants(w.dir, path)
}
