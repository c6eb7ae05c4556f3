// Package grep searches files with ripgrep or, if it is not installed, with the system's
// grep; with Go's regexp if there is neither. All give the same results.
package grep

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/mcp-pruner/mcp-pruner/tools/files"
	"github.com/mcp-pruner/mcp-pruner/tools/process"
)

// Run searches. Globs are relative to dir, which is absolute. The error is an *InvalidPath,
// a *Failure, a *process.SpawnError or ctx's cause.
func (e *Engine) Run(ctx context.Context, dir string, s Search) (*Result, error) {
	asked := s.Paths
	paths, err := e.existing(s.Paths)
	if err != nil {
		return nil, err
	}
	s.Paths = paths
	root, err := os.OpenRoot(e.Root.Real)
	if err != nil {
		return nil, &InvalidPath{".", err}
	}
	defer root.Close()
	found := newCollector(ctx, root, s)
	if err := e.find(ctx, dir, s, found); err != nil && !errors.Is(err, process.ErrEnough) {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return found.result(asked), nil
}

// find searches with rg; if it is not installed with grep; without either, or if the pattern is beyond grep, with Go's
// regexp.
func (e *Engine) find(ctx context.Context, dir string, s Search, found *collector) error {
	if len(s.Paths) == 0 {
		return nil
	}
	p, refused := s.parse()
	if refused == nil { // rg too gives no position for an empty match at the very end of a file
		found.locate = p.locate
	} else {
		refused = &Failure{2, "regular expression: " + files.Quoted(refused.Error())}
	}
	paths := slices.DeleteFunc(slices.Clone(s.Paths), func(p Path) bool { return p.Text != nil })
	if len(paths) < len(s.Paths) {
		if refused != nil {
			return refused
		}
		if err := findInTexts(ctx, p, found); err != nil || len(paths) == 0 {
			return err
		}
		s.Paths = paths
	}
	err := e.findWithRg(ctx, dir, s, found)
	switch {
	case !unusable(err):
		return err
	case refused != nil:
		return refused
	}
	locate := found.locate
	*found = *newCollector(ctx, found.root, found.search) // rg may have printed something before it broke
	found.locate = locate
	if err := findInTexts(ctx, p, found); err != nil {
		return err
	}
	return e.findWithGrep(ctx, dir, s, p, found)
}

// unusable reports whether an error of rg says that it is not there or broken: a library is missing, it crashed, or it is so old
// that it lacks an option. Its own errors, of the pattern or a file, end with 2.
func unusable(err error) bool {
	var spawn *process.SpawnError
	var failed *Failure
	switch {
	case errors.As(err, &spawn):
		return process.IsUnusable(spawn.Err)
	case errors.As(err, &failed):
		return failed.ExitCode > 2 || optionRefused().MatchString(failed.Message)
	}
	return false
}

// findInTexts searches the texts among the search paths with Go's regexp.
func findInTexts(ctx context.Context, p *pattern, found *collector) error {
	run := &grepRun{ctx: ctx, found: found, pattern: p}
	for _, path := range found.search.Paths {
		if path.Text == nil {
			continue
		}
		if err := run.scan(textScanner(ctx, *path.Text), path.real); err != nil {
			return err
		}
		found.isText(path.real)
	}
	return nil
}

// existing resolves the symbolic links of every path. It drops duplicates and paths that
// are neither files nor directories. The paths are returned in the order of results.
func (e *Engine) existing(paths []Path) ([]Path, error) {
	var found []Path
	for _, p := range paths {
		if p.Text != nil {
			p.real = "\x00" + p.Show
			found = append(found, p)
			continue
		}
		real, err := e.Root.Resolve(p.Rel)
		var info fs.FileInfo
		if err == nil {
			info, err = os.Stat(filepath.Join(e.Root.Real, real))
		}
		if err != nil {
			return nil, &InvalidPath{files.Quoted(p.Show), err}
		}
		p.real, p.dir = real, info.IsDir()
		twice := slices.ContainsFunc(found, func(f Path) bool { return f.real == real })
		if !twice && (p.dir || info.Mode().IsRegular()) {
			found = append(found, p)
		}
	}
	slices.SortFunc(found, func(x, y Path) int { return byName(x.prefix(), y.prefix()) })
	return found, nil
}
