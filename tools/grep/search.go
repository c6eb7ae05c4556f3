package grep

import (
	"context"
	"path/filepath"
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

// Path is one file or directory to search, or a text.
type Path struct {
	Rel  string // relative to the root, cleaned
	Show string // the path as shown in results

	Text *string // searched in place of a file; nil: none

	real string // relative to the real root, symbolic links resolved; of a text a name that no file has
	dir  bool
}

// prefix returns the beginning of the paths of all results below p.
func (p Path) prefix() string {
	if p.Show == "." {
		return ""
	}
	return p.Show
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

// realPath resolves the symbolic links of a path as far as possible.
func realPath(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}
