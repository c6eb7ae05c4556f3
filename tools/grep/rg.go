package grep

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

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
	// rg reports no position for an empty match at the very end of a file.
	if p, err := s.translate(); err == nil {
		found.locate = locator(p)
	}
	plain, mixed := s.Paths, []Path(nil)
	if s.Mode != Content {
		plain, mixed = found.split(s.Paths)
	}
	run := rgRun{engine: e, path: path, dir: dir, search: s, found: found, glob: newGlobFilter(s.Glob)}
	if run.glob != nil {
		run.base = realPath(dir)
	}
	if err := run.over(ctx, s.Mode, plain); err != nil {
		return err
	}
	return run.over(ctx, Content, mixed)
}

// split separates search paths that are files with a NUL byte: in those, rg -c and rg -l
// would also count matches after the NUL byte.
func (c *collector) split(paths []Path) (plain, mixed []Path) {
	for _, p := range paths {
		if !p.dir && c.binary(p.real) {
			mixed = append(mixed, p)
		} else {
			plain = append(plain, p)
		}
	}
	return plain, mixed
}

// rgRun is one search with rg.
type rgRun struct {
	engine    *Engine
	path, dir string
	search    Search
	found     *collector
	glob      *globFilter
	base      string // dir, symbolic links resolved; the glob is relative to it
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
	args = append(append(args, r.patternArgs()...), more...)
	args = append(args, "-e", r.search.Pattern, "--")
	for _, p := range paths {
		args = append(args, filepath.Join(r.engine.Root.Real(), p.real))
	}
	p := process.Process{Path: r.path, Args: args, Dir: r.dir, Stdin: stdin}
	if mode != Content {
		p.Stdout = &rgNames{run: r, counts: mode == Counts}
		_, err := r.engine.run(ctx, p)
		return err
	}
	return r.events(ctx, p)
}

func (r *rgRun) patternArgs() (args []string) {
	if r.search.Fixed {
		args = append(args, "-F")
	}
	if r.search.IgnoreCase {
		args = append(args, "-i")
	}
	return args
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
// an ignore file may include again what the glob excludes.
func (r *rgRun) inside(path string) string {
	rel, err := filepath.Rel(r.engine.Root.Real(), path)
	if err != nil || !files.Local(rel) || !r.found.named(rel) && !r.glob.wants(r.base, path) {
		return ""
	}
	return rel
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

// rgNames reads the output of rg -c --null and rg -l --null: names that end with NUL, each
// followed by a count and a line feed in the case of -c.
type rgNames struct {
	run    *rgRun
	counts bool
	part   []byte
}

func (n *rgNames) Write(p []byte) (int, error) {
	n.part = append(n.part, p...)
	rest := n.part
	for {
		name, after, ok := bytes.Cut(rest, []byte{0})
		count := 1
		if ok && n.counts {
			var digits []byte
			if digits, after, ok = bytes.Cut(after, []byte("\n")); ok {
				count, _ = number(digits)
			}
		}
		if !ok {
			n.part = append(n.part[:0], rest...)
			return len(p), nil
		}
		rest = after
		if rel := n.run.inside(string(name)); rel != "" && count > 0 {
			if err := n.run.found.addCount(rel, count); err != nil {
				return 0, err
			}
		}
	}
}

// number parses the decimal digits at the beginning of a text.
func number(text []byte) (n int, rest []byte) {
	for i, ch := range text {
		if ch < '0' || ch > '9' {
			return n, text[i:]
		}
		n = n*10 + int(ch-'0')
	}
	return n, nil
}
