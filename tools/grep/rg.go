package grep

import (
	"cmp"
	"context"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/tools/files"
	"github.com/mcp-pruner/mcp-pruner/tools/process"
)

// findWithRg searches with ripgrep on all processors. Results are sorted afterwards,
// because rg uses a single thread when it sorts.
func (e *Engine) findWithRg(ctx context.Context, dir string, s Search, found *collector) error {
	path, err := e.LookPath("rg")
	if err != nil {
		return process.NotInstalled("rg")
	}
	plain, mixed := s.Paths, []Path(nil)
	if s.Mode != Content {
		plain, mixed = found.split(s.Paths)
	}
	run := rgRun{engine: e, path: path, dir: dir, search: s, found: found, glob: newGlobFilter(s.Glob)}
	if run.glob != nil {
		run.base = realPath(dir)
	}
	for _, latin1 := range []bool{false, true} {
		if run.latin1 = latin1; latin1 && !found.wide {
			break
		}
		if err := run.over(ctx, s.Mode, plain); err != nil {
			return err
		}
		if err := run.over(ctx, Content, mixed); err != nil {
			return err
		}
	}
	return nil
}

// split separates search paths that are files with a NUL byte: in those, rg -c and rg -l
// would also count matches after the NUL byte.
func (c *collector) split(paths []Path) (plain, mixed []Path) {
	for _, p := range paths {
		if !p.dir && c.nul(p.real, math.MaxInt64) >= 0 {
			mixed = append(mixed, p)
		} else {
			plain = append(plain, p)
		}
	}
	return plain, mixed
}

type rgRun struct {
	engine    *Engine
	path, dir string
	search    Search
	found     *collector
	glob      *globFilter
	base      string // dir, symbolic links resolved; the glob is relative to it
	latin1    bool   // searches only Latin-1 files, and decodes them; if the pattern is not wide, such files are searched as they are
}

// over searches paths and reads the output of rg in one of the modes.
func (r *rgRun) over(ctx context.Context, mode string, paths []Path) error {
	if len(paths) == 0 {
		return nil
	}
	var args []string
	switch {
	case mode == Counts:
		args = []string{"-c", "-H", "--null"}
	case mode == Files:
		args = []string{"-l", "--null"}
	case r.search.Mode == Files:
		args = []string{"--json", "--max-count=1"}
	default:
		args = []string{"--json"}
	}
	args = append(args, "--no-config", "--no-ignore-global", "--no-ignore-messages", "--no-mmap", "--color=never")
	more, stdin, done, err := r.globArgs()
	if err != nil {
		return err
	}
	defer done()
	if r.latin1 {
		args = append(args, "--encoding=latin1")
	}
	if r.search.Fixed {
		args = append(args, "-F")
	}
	if r.search.IgnoreCase {
		args = append(args, "-i")
	}
	args = append(args, more...)
	args = append(args, "-e", r.search.Pattern, "--")
	for _, p := range paths {
		args = append(args, filepath.Join(r.engine.Root.Real, p.real))
	}
	p := process.Process{Path: r.path, Args: args, Dir: r.dir, Stdin: stdin}
	if mode == Content {
		return r.events(ctx, p)
	}
	list := &names{ends: onlyNames, take: func(name string, count int) error {
		if rel := r.inside(name); rel != "" {
			return r.found.addCount(rel, count)
		}
		return nil
	}}
	if mode == Counts {
		list.ends = withCounts
	}
	p.Stdout = list
	_, err = r.engine.run(ctx, p)
	return err
}

// globArgs returns the arguments that narrow the search to a glob. --pre-glob is there only
// so that rg refuses a glob with invalid syntax.
func (r *rgRun) globArgs() (args []string, stdin io.Reader, done func(), err error) {
	done = func() {}
	switch {
	case r.glob == nil:
	case r.glob.rule.negated:
		args = []string{"--glob=" + r.search.Glob}
	case cmp.Or(r.engine.system, runtime.GOOS) == "windows": // which has no /dev/stdin
		f, err := os.CreateTemp("", "glob")
		if err != nil {
			return nil, nil, nil, &process.SpawnError{Err: err}
		}
		done = func() { _ = os.Remove(f.Name()) }
		_, err = f.WriteString(r.glob.ignoreFile(r.dir))
		if err = errors.Join(err, f.Close()); err != nil {
			done()
			return nil, nil, nil, &process.SpawnError{Err: err}
		}
		args = []string{"--pre-glob=" + r.glob.line, "--ignore-file=" + f.Name()}
	default:
		args = []string{"--pre-glob=" + r.glob.line, "--ignore-file=/dev/stdin"}
		stdin = strings.NewReader(r.glob.ignoreFile(r.base))
	}
	return args, stdin, done, nil
}

func (r *rgRun) events(ctx context.Context, p process.Process) error {
	events := &rgEvents{run: r}
	p.Stdout = events
	_, err := r.engine.run(ctx, p)
	unended := err == nil && len(events.event) > 0
	if unended || events.unread && (err == nil || errors.Is(err, process.ErrEnough)) {
		return &Failure{2, "rg printed a match that cannot be read"}
	}
	return err
}

// inside returns a path printed by rg relative to the root, or "" if the glob excludes it:
// an ignore file may include again what the glob excludes. So it is with a file that another run searches, in its
// encoding.
func (r *rgRun) inside(path string) string {
	rel, err := filepath.Rel(r.engine.Root.Real, path)
	if err != nil || !files.Local(rel) || !r.found.named(rel) && !r.glob.wants(r.base, path) {
		return ""
	}
	if r.found.wide && r.found.latin1(rel) != r.latin1 {
		return ""
	}
	return rel
}
