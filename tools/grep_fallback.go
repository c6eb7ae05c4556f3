package tools

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// findWithGrep searches with the system's grep. Which files to search is decided
// here, by rg's rules: grep knows nothing of .gitignore and would follow links.
func (b *base) findWithGrep(ctx context.Context, root *os.Root, dir string, s search, found *collector) error {
	path, err := b.LookPath("grep")
	if err != nil {
		return notInstalled("grep")
	}
	pattern, err := s.translate()
	if err != nil {
		return &engineError{2, "regular expression: " + quoted(err.Error())}
	}
	found.locate = locator(pattern)
	run := &grepRun{base: b, ctx: ctx, root: root, found: found, dir: dir, path: path, args: grepArgs(s, pattern)}
	w, err := newWalk(b.real, dir, s.Glob)
	if err != nil {
		return &engineError{2, err.Error()}
	}
	for _, p := range s.Paths {
		if err := w.search(ctx, filepath.Join(b.real, p.real), p.dir, run.add); err != nil {
			return err
		}
	}
	if err := run.flush(); err != nil {
		return err
	}
	if err := errors.Join(run.complaint, w.complaint()); err != nil {
		return &engineError{2, err.Error()}
	}
	return found.settle()
}

// translate says the pattern in the words of grep and of Go's regexp.
func (s search) translate() (*translated, error) {
	t, err := translate(s.Pattern, s.Fixed)
	if err == nil && s.IgnoreCase {
		t.ignoreCase = true
	}
	return t, err
}

func grepArgs(s search, p *translated) []string {
	// -a: what is text is decided here, and bytes that are no UTF-8 are no reason
	// to skip a file. --null ends a name with NUL, the one byte no name contains.
	args := []string{"-R", "-n", "-H", "-a", "--null"}
	if s.Fixed {
		args = append(args, "-F")
	} else {
		args = append(args, "-E")
	}
	if p.ignoreCase {
		args = append(args, "-i")
	}
	if s.Mode == modeFiles {
		args = append(args, "-m", "1")
	}
	return append(args, "-e", p.ere)
}

// Limits of one grep process.
const (
	batchFiles = 2000
	batchBytes = 100_000
)

// grepRun runs grep over files in batches, in the order they are added.
type grepRun struct {
	base      *base
	ctx       context.Context
	root      *os.Root
	found     *collector
	dir, path string
	args      []string

	files     []string
	bytes     int
	complaint error // what grep could not read; the rest is searched first
}

// add takes the next file. Binary files are left out, and those with a byte order
// mark are decoded and handed to grep on its standard input.
func (r *grepRun) add(file string) error {
	rel, err := filepath.Rel(r.base.real, file)
	if err != nil {
		return nil
	}
	f, _, err := openRegular(r.root, rel)
	if err != nil {
		r.complain(fmt.Errorf("%s: %s", quoted(filepath.ToSlash(rel)), plainReason(err)))
		return nil
	}
	defer f.Close()
	head := make([]byte, nulMargin)
	n, _ := f.ReadAt(head, 0)
	head = head[:n]
	if marked(head) {
		return r.decode(f, rel)
	}
	if bytes.IndexByte(head, 0) >= 0 {
		return nil
	}
	r.files = append(r.files, file)
	r.bytes += len(file) + 1
	if len(r.files) < batchFiles && r.bytes < batchBytes {
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
	text, _ := decoded(f)
	if head, _ := text.Peek(nulMargin); bytes.IndexByte(head, 0) >= 0 {
		return nil
	}
	args := append(slices.Clone(r.args), "--", "-")
	return r.run(process{args: args, stdin: text, stdout: &grepLines{base: r.base, found: r.found, file: rel}})
}

// flush searches the files collected so far.
func (r *grepRun) flush() error {
	if len(r.files) == 0 {
		return nil
	}
	args := append(append(slices.Clone(r.args), "-D", "skip", "--"), r.files...)
	r.files, r.bytes = nil, 0
	return r.run(process{args: args, stdout: &grepLines{base: r.base, found: r.found}})
}

func (r *grepRun) run(p process) error {
	p.path, p.dir = r.path, r.dir
	said, err := r.base.engine(r.ctx, p, r.found)
	var engine *engineError
	if errors.As(err, &engine) && engine.code == 2 {
		r.complain(err)
		return nil
	}
	if said != "" {
		// Some greps report an option they do not know like a search in vain.
		r.complain(errors.New(said))
	}
	return err
}

func (r *grepRun) complain(err error) {
	if r.complaint == nil {
		r.complaint = err
	}
}

// grepLines reads what grep -n --null prints: name NUL line ":" text. The text
// is read from the file later, so it is skipped here.
type grepLines struct {
	base  *base
	found *collector
	file  string // relative to the root, when grep reads its standard input

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
		return g.found.add(hit{g.file, line, -1})
	}
	rel, err := filepath.Rel(g.base.real, name)
	if err != nil {
		return nil
	}
	return g.found.add(hit{rel, line, -1})
}

// engineEnv is the environment rg and grep run in: without what would change
// their output, and with a locale in which characters are UTF-8.
func (b *base) engineEnv() []string {
	env := slices.DeleteFunc(slices.Clone(b.Env()), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return secret(name) || strings.HasPrefix(name, "GREP_") || strings.HasPrefix(name, "LC_") ||
			name == "RIPGREP_CONFIG_PATH" || name == "LANG"
	})
	locale := "C.UTF-8"
	if runtime.GOOS == "darwin" {
		locale = "en_US.UTF-8"
	}
	return append(env, "LC_ALL="+locale)
}
