package tools

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
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
	skip    bool   // it was reported before, by way of another path
	pending []hit
	lines   int // modeCount: how many lines of the file are text
	count   int // modeCount
	seen    map[string]bool

	matches   []grepMatch
	context   []grepLine
	files     []string
	counts    []grepCount
	bytes     int
	full      bool
	truncated bool
}

func newCollector(ctx context.Context, root *os.Root, s search) *collector {
	return &collector{ctx: ctx, root: root, search: s, seen: map[string]bool{}}
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
	switch {
	case c.full:
		return errEnough
	case c.skip:
		return nil
	case c.search.Mode == modeCount:
		if h.line <= c.lines {
			c.count++
		}
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
	c.file, c.skip, c.count = file, c.seen[file], 0
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
			return strings.ToValidUTF8(path.Join(p.show, filepath.ToSlash(rel)), string(utf8.RuneError))
		}
	}
	return filepath.ToSlash(file)
}

// sorted brings the results into their order: by path, then by line.
func (c *collector) sorted() {
	slices.SortStableFunc(c.matches, func(x, y grepMatch) int {
		return cmp.Or(cmp.Compare(x.Path, y.Path), cmp.Compare(x.Line, y.Line))
	})
	slices.SortStableFunc(c.context, func(x, y grepLine) int {
		return cmp.Or(cmp.Compare(x.Path, y.Path), cmp.Compare(x.Line, y.Line))
	})
	slices.Sort(c.files)
	slices.SortFunc(c.counts, func(x, y grepCount) int { return cmp.Compare(x.Path, y.Path) })
}

const (
	// nulMargin is how far before a NUL byte a file stops counting as text. rg
	// reads in pieces of this size and drops the piece with the NUL in it.
	nulMargin = 64 << 10
	// maxLine is how much of one line is looked at.
	maxLine = 16 << 20
	// shownChars is how much of a long line is shown, leadChars of it before
	// the match.
	shownChars = 500
	leadChars  = 200
)

// fileLine is one line of a file without its line feed.
type fileLine struct {
	n    int
	raw  []byte // its first maxLine bytes
	size int    // all of its bytes
	end  int64  // offset of the byte behind it
}

// read returns the lines of hits in the current file and the lines around them.
// Lines in the binary part of a file are left out; so is everything when the
// file cannot be opened any more.
func (c *collector) read(hits []hit) []fileLine {
	f, _, err := openRegular(c.root, c.file)
	if err != nil {
		return nil
	}
	defer f.Close()
	text, _ := decoded(f)
	s := &lineScanner{r: text, ctx: c.ctx, nul: -1}
	around := c.search.Context
	if c.search.Mode != modeContent {
		around = 0
	}
	var lines []fileLine
	for _, h := range hits {
		for s.n < h.line-around-1 && s.skip() {
		}
		for s.n < h.line+around {
			line, ok := s.next()
			if !ok {
				break
			}
			lines = append(lines, line)
		}
	}
	for read := s.at; s.nul < 0 && s.at < read+nulMargin && s.skip(); {
	}
	if s.nul < 0 {
		return lines
	}
	return slices.DeleteFunc(lines, func(l fileLine) bool { return l.end > s.nul-nulMargin })
}

// textLines is the number of lines of the current file before its binary part.
func (c *collector) textLines() int {
	f, _, err := openRegular(c.root, c.file)
	if err != nil {
		return 0
	}
	defer f.Close()
	text, _ := decoded(f)
	s := &lineScanner{r: text, ctx: c.ctx, nul: -1}
	var ends []int64 // of the lines that a NUL further on may still take back
	for s.nul < 0 && s.skip() {
		ends = append(ends, s.at)
		for len(ends) > 0 && ends[0] <= s.at-nulMargin {
			ends = ends[1:]
		}
	}
	if s.nul < 0 {
		return s.n
	}
	late := slices.IndexFunc(ends, func(end int64) bool { return end > s.nul-nulMargin })
	if late < 0 {
		return s.n
	}
	return s.n - (len(ends) - late)
}

// lineScanner reads a file line by line and notes the first NUL byte.
type lineScanner struct {
	r   *bufio.Reader
	ctx context.Context
	n   int   // lines read
	at  int64 // bytes read
	nul int64 // offset of the first NUL byte, -1 before one was seen
}

func (s *lineScanner) skip() bool {
	_, ok := s.scan(0)
	return ok
}

func (s *lineScanner) next() (fileLine, bool) { return s.scan(maxLine) }

func (s *lineScanner) scan(keep int) (fileLine, bool) {
	line := fileLine{n: s.n + 1}
	for {
		part, err := s.r.ReadSlice('\n')
		if i := bytes.IndexByte(part, 0); i >= 0 && s.nul < 0 {
			s.nul = s.at + int64(i)
		}
		s.at += int64(len(part))
		line.size += len(part)
		if room := keep - len(line.raw); room > 0 {
			line.raw = append(line.raw, part[:min(room, len(part))]...)
		}
		if err == bufio.ErrBufferFull && s.ctx.Err() == nil {
			continue
		}
		if err != nil && err != io.EOF || line.size == 0 || s.ctx.Err() != nil {
			return line, false
		}
		break
	}
	s.n++
	line.end = s.at
	line.raw = bytes.TrimSuffix(line.raw, []byte("\n"))
	return line, true
}

// shorten is a line's text, or of a long line the characters around start and
// marks that say so.
func shorten(line fileLine, start int) string {
	raw := bytes.TrimSuffix(line.raw, []byte("\r"))
	if line.size <= maxLine && utf8.RuneCount(raw) <= shownChars {
		return validText(raw)
	}
	start = min(start, len(raw))
	begin := back(raw, start, leadChars)
	end := forward(raw, begin, shownChars)
	if end == len(raw) {
		begin = back(raw, end, shownChars)
	}
	text := validText(raw[begin:end])
	if begin > 0 {
		text = "…" + text
	}
	if end < line.size {
		text += "…"
	}
	return text + " [line of " + strconv.Itoa(line.size) + " bytes]"
}

// back is the offset n characters before at.
func back(raw []byte, at, n int) int {
	for ; n > 0 && at > 0; n-- {
		_, size := utf8.DecodeLastRune(raw[:at])
		at -= size
	}
	return at
}

// forward is the offset n characters behind at.
func forward(raw []byte, at, n int) int {
	for ; n > 0 && at < len(raw); n-- {
		_, size := utf8.DecodeRune(raw[at:])
		at += size
	}
	return at
}
