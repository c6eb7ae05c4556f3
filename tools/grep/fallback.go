package grep

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"

	"github.com/mcp-pruner/mcp-pruner/tools/files"
	"github.com/mcp-pruner/mcp-pruner/tools/process"
)

// findWithGrep searches with the system's grep or, if there is none, with Go's regexp. This
// code selects the files by rg's rules, because grep does not know .gitignore and would
// follow symbolic links.
func (e *Engine) findWithGrep(ctx context.Context, dir string, s Search, found *collector) error {
	pattern, err := s.translate()
	if err != nil {
		return &Failure{2, "regular expression: " + files.Quoted(err.Error())}
	}
	found.locate = locator(pattern)
	w := &walk{dir: realPath(dir), glob: newGlobFilter(s.Glob)}
	if err := w.glob.check(s.Glob); err != nil {
		return &Failure{2, err.Error()}
	}
	run := &grepRun{engine: e, ctx: ctx, found: found, dir: dir, args: grepArgs(s, pattern)}
	if run.path, err = e.LookPath("grep"); err != nil {
		if run.matches, err = matcher(pattern); err != nil {
			return &Failure{2, "regular expression: " + files.Quoted(err.Error())}
		}
	}
	for _, p := range s.Paths {
		if err := w.search(ctx, filepath.Join(e.Root.Real(), p.real), p.dir, run.add); err != nil {
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

// realPath resolves the symbolic links of a path as far as possible.
func realPath(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

// translate translates the pattern for grep and for Go's regexp.
func (s Search) translate() (*translated, error) {
	t, err := translate(s.Pattern, s.Fixed)
	if err == nil && s.IgnoreCase {
		t.ignoreCase = true
	}
	return t, err
}

func grepArgs(s Search, p *translated) []string {
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

// Limits of one grep process.
const (
	batchFiles = 2000
	batchBytes = 100_000
)

// grepRun runs grep over files in batches, in the order in which they are added.
type grepRun struct {
	engine    *Engine
	ctx       context.Context
	found     *collector
	dir, path string
	args      []string
	matches   func(line []byte) bool // used if there is no grep

	batch     []string
	bytes     int
	complaint error // first file that grep could not read; the other files are still searched
}

// add takes the next file. Binary files are left out. Files with a byte order mark are
// decoded and handed to grep on its standard input.
func (r *grepRun) add(file string) error {
	rel, err := filepath.Rel(r.engine.Root.Real(), file)
	if err != nil {
		return nil
	}
	f, _, err := files.OpenRegular(r.found.root, rel)
	if err != nil {
		r.complain(fmt.Errorf("%s: %s", files.Quoted(filepath.ToSlash(rel)), files.PlainReason(err)))
		return nil
	}
	defer f.Close()
	head := make([]byte, nulMargin)
	n, _ := f.ReadAt(head, 0)
	head = head[:n]
	if r.matches != nil || marked(head) {
		return r.decode(f, rel)
	}
	if bytes.IndexByte(head, 0) >= 0 {
		return nil
	}
	r.batch = append(r.batch, file)
	r.bytes += len(file) + 1
	if len(r.batch) < batchFiles && r.bytes < batchBytes {
		return nil
	}
	return r.flush()
}

// marked says that a file begins with a byte order mark.
func marked(head []byte) bool {
	return slices.ContainsFunc([]string{"\xef\xbb\xbf", "\xff\xfe", "\xfe\xff"}, func(mark string) bool {
		return bytes.HasPrefix(head, []byte(mark))
	})
}

func (r *grepRun) decode(f *os.File, rel string) error {
	if err := r.flush(); err != nil {
		return err
	}
	text, _ := files.Decoded(f)
	if head, _ := text.Peek(nulMargin); bytes.IndexByte(head, 0) >= 0 {
		return nil
	}
	if r.matches != nil {
		return r.scan(text, rel)
	}
	args := append(slices.Clone(r.args), "--", "-")
	return r.run(process.Process{Args: args, Stdin: text, Stdout: &grepLines{engine: r.engine, found: r.found, file: rel}})
}

// scan searches a file's text without grep.
func (r *grepRun) scan(text *bufio.Reader, rel string) error {
	s := &lineScanner{r: text, ctx: r.ctx, nul: -1}
	for line, ok := s.next(); ok; line, ok = s.next() {
		if !r.matches(line.raw) {
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
	return r.run(process.Process{Args: args, Stdout: &grepLines{engine: r.engine, found: r.found}})
}

func (r *grepRun) run(p process.Process) error {
	p.Path, p.Dir = r.path, r.dir
	said, err := r.engine.run(r.ctx, p)
	var failed *Failure
	if errors.As(err, &failed) && failed.ExitCode == 2 {
		r.complain(err)
		return nil
	}
	if optionRefused.MatchString(said) { // some greps then end like a search in vain
		r.complain(errors.New(said))
	}
	return err
}

// optionRefused is what greps say of an option they do not know. Whatever else
// stands on standard error of a search that ended well, such as a warning of the
// dynamic linker, is no failure.
var optionRefused = regexp.MustCompile(`(?i)\b(unrecognized|invalid|unknown|illegal|unsupported) option|^usage:`)

func (r *grepRun) complain(err error) {
	if r.complaint == nil {
		r.complaint = err
	}
}

// grepLines reads what grep -n --null prints: name NUL line ":" text. The text
// is read from the file later, so it is skipped here.
type grepLines struct {
	engine *Engine
	found  *collector
	file   string // relative to the root, when grep reads its standard input

	state  int // of the line: in its name, its number, its text
	name   []byte
	number []byte
}

const (
	inName = iota
	inNumber
	inText
)

func (g *grepLines) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		end := bytes.IndexByte(p, [...]byte{0, ':', '\n'}[g.state])
		part := p
		if end >= 0 {
			part = p[:end]
		}
		switch g.state {
		case inName:
			g.name = append(g.name, part...)
		case inNumber:
			g.number = append(g.number, part...)
		}
		if end < 0 {
			return n, nil
		}
		p = p[end+1:]
		if g.state == inNumber {
			if err := g.take(); err != nil {
				return 0, err
			}
		}
		g.state = (g.state + 1) % 3
	}
	return n, nil
}

func (g *grepLines) take() error {
	name, number := string(g.name), string(g.number)
	g.name, g.number = g.name[:0], g.number[:0]
	line, err := strconv.Atoi(number)
	if err != nil {
		return nil
	}
	if g.file != "" {
		return g.found.add(g.file, hit{line: line, start: -1, at: -1})
	}
	rel, err := filepath.Rel(g.engine.Root.Real(), name)
	if err != nil {
		return nil
	}
	return g.found.add(rel, hit{line: line, start: -1, at: -1})
}
