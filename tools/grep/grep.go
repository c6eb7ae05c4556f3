package grep

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"sync"

	"github.com/mcp-pruner/mcp-pruner/tools/files"
	"github.com/mcp-pruner/mcp-pruner/tools/process"
)

// Limits of one grep process.
const (
	batchFiles = 2000
	batchBytes = 100_000
)

// grepRun searches the files of a walk with the system's grep or, if there is none or the pattern is beyond it, with Go's
// regexp. Grep gets the files in batches, in the order of the walk.
type grepRun struct {
	engine  *Engine
	ctx     context.Context
	found   *collector
	dir     string
	path    string // of grep; "": Go's regexp searches
	args    []string
	pattern *pattern

	batch     []string
	bytes     int
	complaint error // first file that grep could not read; the other files are still searched
}

// findWithGrep selects the files here by rg's rules, because grep does not know .gitignore and would follow symbolic
// links.
func (e *Engine) findWithGrep(ctx context.Context, dir string, s Search, p *pattern, found *collector) error {
	run := &grepRun{engine: e, ctx: ctx, found: found, dir: dir, args: grepArgs(s, p), pattern: p}
	if path, err := e.LookPath("grep"); err == nil && p.ere != "" {
		run.path = path
	}
	w := &walk{dir: realPath(dir), glob: newGlobFilter(s.Glob)}
	if err := w.glob.check(s.Glob); err != nil {
		return &Failure{2, err.Error()}
	}
	for _, p := range s.Paths {
		if err := w.search(ctx, filepath.Join(e.Root.Real, p.real), p.dir, run.add); err != nil {
			return err
		}
	}
	if err := run.flush(); err != nil {
		return err
	}
	if err := errors.Join(run.complaint, w.complaint()); err != nil {
		return &Failure{2, err.Error()}
	}
	return nil
}

func grepArgs(s Search, p *pattern) []string {
	// -a: binary files are recognised here, and a file with invalid UTF-8 must not be
	// skipped. --null ends a name with NUL, the one byte that no name contains.
	args := []string{"-R", "-n", "-H", "-a", "--null"}
	if s.Fixed {
		args = append(args, "-F")
	} else {
		args = append(args, "-E")
	}
	if p.ignoreCase {
		args = append(args, "-i")
	}
	if s.Mode == Files {
		args = append(args, "-m", "1")
	}
	return append(args, "-e", p.ere)
}

// add takes the next file. Binary files are left out. Files that have to be decoded are handed to grep on its standard
// input.
func (r *grepRun) add(file string) error {
	rel, err := filepath.Rel(r.engine.Root.Real, file)
	if err != nil {
		return nil
	}
	s, done, err := r.found.scanner(rel)
	if err != nil {
		r.complain(fmt.Errorf("%s: %s", files.Quoted(filepath.ToSlash(rel)), files.PlainReason(err)))
		return nil
	}
	defer done()
	if head, _ := s.r.Peek(nulMargin); bytes.IndexByte(head, 0) >= 0 {
		return nil
	}
	if r.path == "" {
		return r.scan(s, rel)
	}
	if s.file == nil {
		if err := r.flush(); err != nil {
			return err
		}
		return r.run(process.Process{Args: append(slices.Clone(r.args), "--", "-"), Stdin: s.r}, rel)
	}
	r.batch = append(r.batch, file)
	r.bytes += len(file) + 1
	if len(r.batch) < batchFiles && r.bytes < batchBytes {
		return nil
	}
	return r.flush()
}

// scan searches a file's text with Go's regexp.
func (r *grepRun) scan(s *lineScanner, rel string) error {
	for line, ok := s.next(); ok; line, ok = s.next() {
		if !r.pattern.matches(line.raw) {
			continue
		}
		if err := r.found.add(rel, hit{line: line.n, start: -1, at: -1}); err != nil || r.found.search.Mode == Files {
			return err
		}
	}
	return r.ctx.Err()
}

// flush searches the files collected so far.
func (r *grepRun) flush() error {
	if len(r.batch) == 0 {
		return nil
	}
	args := append(append(slices.Clone(r.args), "-D", "skip", "--"), r.batch...)
	r.batch, r.bytes = nil, 0
	return r.run(process.Process{Args: args}, "")
}

// run runs grep; rel is the file on its standard input, if there is one.
func (r *grepRun) run(p process.Process, rel string) error {
	p.Path, p.Dir = r.path, r.dir
	p.Stdout = &names{ends: withLines, take: func(name string, line int) error {
		if below, err := filepath.Rel(r.engine.Root.Real, name); err == nil || rel != "" {
			return r.found.add(cmp.Or(rel, below), hit{line: line, start: -1, at: -1})
		}
		return nil
	}}
	said, err := r.engine.run(r.ctx, p)
	var failed *Failure
	if errors.As(err, &failed) && failed.ExitCode == 2 {
		r.complain(err)
		return nil
	}
	if optionRefused().MatchString(said) { // some greps then end like a search in vain
		r.complain(errors.New(said))
	}
	return err
}

// optionRefused matches the message of a grep about an option that it does not know. Whatever else
// stands on standard error of a search that ended well, such as a warning of the
// dynamic linker, is no failure.
var optionRefused = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(unrecognized|invalid|unknown|illegal|unsupported) (option|flag)|wasn't expected|^usage:`)
})

func (r *grepRun) complain(err error) {
	if r.complaint == nil {
		r.complaint = err
	}
}
