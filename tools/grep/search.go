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
	"time"

	"github.com/mcp-pruner/mcp-pruner/tools/files"
	"github.com/mcp-pruner/mcp-pruner/tools/process"
)

// Modes of a search: what its result lists.
const (
	Content = "content" // matching lines
	Files   = "files"   // names of files with a match
	Counts  = "count"   // matching lines per file
)

// Search says what to search for and how much of it to return.
type Search struct {
	Pattern    string
	Fixed      bool
	IgnoreCase bool
	Glob       string
	Mode       string
	Context    int // number of lines around a match
	MaxMatches int // maximum number of files in modes Files and Counts
	MaxBytes   int // maximum size of the matching text
	Paths      []Path
}

// Path is one file or directory to search.
type Path struct {
	Rel  string // relative to the root, cleaned
	Show string // the path as shown in results

	real string // relative to the real root, symbolic links resolved
	dir  bool
}

// Engine runs searches below one root.
type Engine struct {
	Root     *files.Root
	LookPath func(string) (string, error)
	Env      func() []string

	system string // as runtime.GOOS, "": this one
}

// InvalidPath names a search path that cannot be searched, with the reason.
type InvalidPath struct {
	Path string
	Err  error
}

func (e *InvalidPath) Error() string { return e.Path + ": " + files.PlainReason(e.Err) }
func (e *InvalidPath) Unwrap() error { return e.Err }

// Failure is an error reported by rg or grep.
type Failure struct {
	ExitCode int
	Message  string
}

func (e *Failure) Error() string { return e.Message }

// Run searches. Globs are relative to dir, which is absolute. The error is an *InvalidPath,
// a *Failure, a *process.SpawnError or ctx's cause.
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

// find searches with rg; if it is not installed with grep; without either, or if the pattern is beyond grep, with Go's
// regexp.
func (e *Engine) find(ctx context.Context, dir string, s Search, found *collector) error {
	if len(s.Paths) == 0 {
		return nil
	}
	p, refused := s.parse()
	if refused == nil { // rg too gives no position for an empty match at the very end of a file
		found.locate = p.locate
	}
	err := e.findWithRg(ctx, dir, s, found)
	var spawn *process.SpawnError
	switch {
	case !errors.As(err, &spawn) || !process.IsUnusable(spawn.Err):
		return err
	case refused != nil:
		return &Failure{2, "regular expression: " + files.Quoted(refused.Error())}
	}
	return e.findWithGrep(ctx, dir, s, p, found)
}

// maxTime bounds every search process; a call's own timeout is shorter.
const maxTime = 2 * time.Hour

// run runs a search process until it ends. It returns what the process wrote to standard
// error although it succeeded.
func (e *Engine) run(ctx context.Context, p process.Process) (string, error) {
	said := newComplaints()
	p.Stderr, p.Env, p.Timeout = said, e.Env(), maxTime
	code, err := p.Run(ctx)
	if err != nil {
		return "", err
	}
	if code > 1 && !(code == 2 && said.harmless()) {
		return "", &Failure{code, said.text("search failed")}
	}
	return said.text(""), nil
}

// existing resolves the symbolic links of every path. It drops duplicates and paths that
// are neither files nor directories. The paths are returned in the order of results.
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

// prefix returns the beginning of the paths of all results below p.
func (p Path) prefix() string {
	if p.Show == "." {
		return ""
	}
	return p.Show
}

// realPath resolves the symbolic links of a path as far as possible.
func realPath(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}
