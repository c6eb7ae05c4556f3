package tools

import (
	"cmp"
	"context"
	"math"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"
)

// hit is one matching line, as an engine reports it.
type hit struct {
	file  string // relative to the real root
	line  int    // 1-based
	start int    // byte offset of the first match in the line, -1 when not known
}

// collector turns hits into results. The engines only say where matches are: the
// text is read here, through os.Root, so that both give the same text and
// nothing from outside the root gets out even when a link is swapped in.
type collector struct {
	ctx    context.Context
	root   *os.Root
	search search
	// locate finds the first match in a line when the engine does not say.
	locate func(line []byte) int

	file    string // the one hits come from at the moment
	last    int    // the line of the latest hit in it
	skip    bool   // it was reported before, by way of another path
	pending []hit
	lines   int // how many lines of the file are text, as far as is known
	count   int // modeCount
	seen    map[string]bool
	raw     map[string]string // a path as results show it: as it is on disk

	matches   []grepMatch
	context   []grepLine
	files     []string
	counts    []grepCount
	bytes     int
	full      bool
	truncated bool
}

func newCollector(ctx context.Context, root *os.Root, s search) *collector {
	return &collector{ctx: ctx, root: root, search: s, seen: map[string]bool{}, raw: map[string]string{}}
}

// add takes the next hit; hits come file by file, line by line. It returns
// errEnough when there is no need for more.
func (c *collector) add(h hit) error {
	if h.file != c.file {
		if err := c.settle(); err != nil {
			return err
		}
		c.begin(h.file)
	}
	// Two paths that lead to a file one after the other show only in its lines.
	c.skip = c.skip || h.line <= c.last
	c.last = max(c.last, h.line)
	switch {
	case c.full:
		return errEnough
	case c.skip, h.line > c.lines:
		return nil
	case c.search.Mode == modeCount:
		c.count++
		return nil
	case c.search.Mode == modeFiles && len(c.pending) > 0:
		return nil
	}
	c.pending = append(c.pending, h)
	if c.search.Mode == modeContent && len(c.matches)+len(c.pending) > c.search.MaxMatches {
		return c.settle()
	}
	return nil
}

func (c *collector) begin(file string) {
	c.file, c.last, c.skip, c.count, c.lines = file, 0, c.seen[file], 0, math.MaxInt
	c.seen[file] = true
	if c.search.Mode == modeCount && !c.skip {
		c.lines = c.textLines()
	}
}

// settle makes results of what is pending for the current file.
func (c *collector) settle() error {
	hits := c.pending
	c.pending = nil
	switch {
	case c.full:
	case c.search.Mode == modeCount:
		if c.count > 0 && c.room(len(c.counts)) {
			c.counts = append(c.counts, grepCount{c.show(c.file), c.count})
		}
		c.count = 0
	case len(hits) > 0 && c.search.Mode == modeFiles:
		if len(c.read(hits)) > 0 && c.room(len(c.files)) {
			c.files = append(c.files, c.show(c.file))
		}
	case len(hits) > 0:
		c.addLines(hits)
	}
	if c.full {
		return errEnough
	}
	return nil
}

// room says whether one more entry may join n others; without room the result is
// complete, and truncated.
func (c *collector) room(n int) bool {
	if n < c.search.MaxMatches {
		return true
	}
	c.full, c.truncated = true, true
	return false
}

// addLines adds the text of hits and of the lines around them.
func (c *collector) addLines(hits []hit) {
	lines := c.read(hits)
	starts := make(map[int]int, len(hits))
	for _, h := range hits {
		starts[h.line] = h.start
	}
	show := c.show(c.file)
	var kept []int
	var around []fileLine
	for _, line := range lines {
		start, ok := starts[line.n]
		if !ok {
			around = append(around, line)
			continue
		}
		if !c.room(len(c.matches)) {
			break
		}
		m := c.match(show, line, start)
		if !c.fits(&m.Text, len(c.matches) == 0) {
			break
		}
		c.matches = append(c.matches, m)
		kept = append(kept, line.n)
	}
	for _, line := range around {
		i, _ := slices.BinarySearch(kept, line.n)
		near := i < len(kept) && kept[i]-line.n <= c.search.Context ||
			i > 0 && line.n-kept[i-1] <= c.search.Context
		text := shorten(line, 0)
		if near && c.fits(&text, false) {
			c.context = append(c.context, grepLine{show, line.n, text})
		}
	}
}

// match is one line as a result. Columns count characters.
func (c *collector) match(show string, line fileLine, start int) grepMatch {
	if start < 0 && c.locate != nil {
		start = c.locate(line.raw)
	}
	m := grepMatch{Path: show, Line: line.n, Text: shorten(line, max(start, 0))}
	if start >= 0 && start <= len(line.raw) {
		column := utf8.RuneCount(line.raw[:start]) + 1
		m.Column = &column
	}
	return m
}

// fits spends the output cap. The very first text is cut to fit, so that a cap
// never hides that there is a match.
func (c *collector) fits(text *string, first bool) bool {
	left := c.search.MaxBytes - c.bytes
	if len(*text) > left {
		c.full, c.truncated = true, true
		if !first {
			return false
		}
		*text = string(cutRune([]byte(*text), left))
	}
	c.bytes += len(*text)
	return true
}

// show spells a file the way its search path was given.
func (c *collector) show(file string) string {
	for _, p := range c.search.Paths {
		if rel, err := filepath.Rel(p.real, file); err == nil && local(rel) {
			raw := path.Join(p.show, filepath.ToSlash(rel))
			shown := strings.ToValidUTF8(raw, string(utf8.RuneError))
			c.raw[shown] = raw
			return shown
		}
	}
	return filepath.ToSlash(file)
}

// output is everything found, by path and line; asked are the search paths as the
// call named them.
func (c *collector) output(asked []searchPath) *grepOutput {
	c.sort()
	out := &grepOutput{
		Tool: "grep", Pattern: c.search.Pattern, Matches: c.matches, MatchCount: len(c.matches),
		Context: c.context, Files: c.files, Counts: c.counts, Truncated: c.truncated, mode: c.search.Mode,
	}
	for _, p := range asked {
		out.Paths = append(out.Paths, p.show)
	}
	return out.rendered()
}

// sort puts results in the order in which files are searched, which search paths
// within each other disturb.
func (c *collector) sort() {
	slices.SortStableFunc(c.matches, func(x, y grepMatch) int {
		return cmp.Or(c.byName(x.Path, y.Path), cmp.Compare(x.Line, y.Line))
	})
	slices.SortStableFunc(c.context, func(x, y grepLine) int {
		return cmp.Or(c.byName(x.Path, y.Path), cmp.Compare(x.Line, y.Line))
	})
	slices.SortFunc(c.files, c.byName)
	slices.SortFunc(c.counts, func(x, y grepCount) int { return c.byName(x.Path, y.Path) })
}

func (c *collector) byName(x, y string) int { return byName(c.raw[x], c.raw[y]) }

// byName compares paths name by name, as both engines walk a tree: what is in a
// comes before a.txt.
func byName(x, y string) int {
	i := 0
	for i < min(len(x), len(y)) && x[i] == y[i] {
		i++
	}
	switch {
	case i == len(x) || i == len(y):
		return cmp.Compare(len(x), len(y))
	case x[i] == '/':
		return -1
	case y[i] == '/':
		return 1
	}
	return cmp.Compare(x[i], y[i])
}
