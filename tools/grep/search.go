// Package grep searches files with ripgrep, or with the system's grep where there
// is none, and gives the same results by either.
package grep

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"mcp-pruner/tools/files"
	"mcp-pruner/tools/process"
)

// What a search lists.
const (
	Content = "content" // matching lines
	Files   = "files"   // names of files with a match
	Counts  = "count"   // matching lines per file
)

// Search is what to look for and how much of it to keep.
type Search struct {
	Pattern    string
	Fixed      bool
	IgnoreCase bool
	Glob       string
	Mode       string
	Context    int // lines around a match
	MaxMatches int // of files in modes Files and Counts
	MaxBytes   int // of matching text
	Paths      []Path
}

// Path is one file or directory to search.
type Path struct {
	Rel  string // relative to the root, cleaned
	Show string // the same as results spell it

	real string // relative to the real root, links followed
	dir  bool
}

// Engine runs searches below one root.
type Engine struct {
	Root     *files.Root
	LookPath func(string) (string, error)
	Env      func() []string
}

// InvalidPath says which search path cannot be searched and why.
type InvalidPath struct {
	Path string
	Err  error
}

func (e *InvalidPath) Error() string { return e.Path + ": " + files.PlainReason(e.Err) }
func (e *InvalidPath) Unwrap() error { return e.Err }

// Failure is what rg or grep complained of.
type Failure struct {
	ExitCode int
	Message  string
}

func (e *Failure) Error() string { return e.Message }

// Run searches; globs are relative to dir, which is absolute. It fails with an
// *InvalidPath, a *Failure, a *process.SpawnError or ctx's cause.
func (e *Engine) Run(ctx context.Context, dir string, s Search) (*Result, error) {
	asked := s.Paths
	paths, err := e.existing(s.Paths)
	if err != nil {
		return nil, err
	}
	s.Paths = paths
	root, err := os.OpenRoot(e.Root.Real())
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

// find runs the search with rg, or with the system's grep where there is no rg.
func (e *Engine) find(ctx context.Context, dir string, s Search, found *collector) error {
	if len(s.Paths) == 0 {
		return nil
	}
	err := e.findWithRg(ctx, dir, s, found)
	var spawn *process.SpawnError
	if errors.As(err, &spawn) && process.IsUnusable(spawn.Err) {
		return e.findWithGrep(ctx, dir, s, found)
	}
	return err
}

// existing follows the links of every path and leaves out what is neither file
// nor directory, and what is named twice. The paths are in the order of results.
func (e *Engine) existing(paths []Path) ([]Path, error) {
	var found []Path
	for _, p := range paths {
		real, err := e.Root.Resolve(p.Rel)
		var info fs.FileInfo
		if err == nil {
			info, err = os.Stat(filepath.Join(e.Root.Real(), real))
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

// prefix is what the paths of all results below begin with.
func (p Path) prefix() string {
	if p.Show == "." {
		return ""
	}
	return p.Show
}
