package grep

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

	"github.com/mcp-pruner/mcp-pruner/tools/files"
	"github.com/mcp-pruner/mcp-pruner/tools/process"
)

// hit is one matching line as reported by an engine.
type hit struct {
	line  int // 1-based
	start int // byte offset of the first match in the line, -1 if unknown
	at    int // byte offset of the line in the decoded file, -1 if unknown
}

type found struct {
	file  string // relative to the real root
	shown string // the path in results, byte for byte
	hits  []hit  // hits that may be shown, by line; nil once none of them will be
	count int    // number of all hits
	text  bool   // the engine read the whole file and met no NUL byte
}

// Limits at which a search with very many matches is stopped. The results are then those of
// the files that happened to come first.
const (
	mostHits  = 2 << 20
	mostFiles = 1 << 18
)

// collector turns hits into results. The engines report positions only, in any order of
// files. The text is read here through os.Root, so both engines give the same text, and
// nothing outside the root is read even if a symbolic link is swapped in.
type collector struct {
	ctx    context.Context
	root   *os.Root
	search Search
	// locate finds the first match in a line if the engine does not report it.
	locate func(line []byte) int
	wide   bool // the pattern has characters outside ASCII, so Latin-1 files are decoded before they are searched

	all  map[string]*found
	at   *found // the file of the current hits
	last int    // line of its latest hit
	skip bool   // the file was reported before, through another path
	late bool   // enough hits precede it
	text int    // number of its lines that count

	kept    int    // hits kept, in all files
	beyond  string // hits of files after this one cannot be shown; "" if there is no such file yet
	hits    int    // hits found, in all files
	stopped bool

	out   Result
	bytes int
	full  bool // of matches
}

func newCollector(ctx context.Context, root *os.Root, s Search) *collector {
	return &collector{ctx: ctx, root: root, search: s, wide: !ascii([]byte(s.Pattern)), all: map[string]*found{}}
}

// add adds a hit. Hits arrive file by file and line by line. It returns process.ErrEnough
// when no more hits are needed.
func (c *collector) add(file string, h hit) error {
	if c.at == nil || file != c.at.file {
		c.begin(file)
	}
	// If two consecutive paths lead to the same file, only the line numbers show it.
	c.skip = c.skip || h.line <= c.last
	c.last = max(c.last, h.line)
	if c.skip || h.line > c.text {
		return nil
	}
	f := c.at
	f.count++
	c.hits++
	most := c.search.MaxMatches
	if c.search.Mode == Files {
		most = 1
	}
	if c.search.Mode != Counts && f.count <= most && len(f.hits) == f.count-1 && !c.late {
		f.hits = append(f.hits, h)
		c.kept++
		c.prune()
	}
	return c.enough()
}

// addCount adds the number of matching lines of a file.
func (c *collector) addCount(file string, count int) error {
	if _, known := c.all[file]; !known {
		c.all[file] = &found{file: file, shown: c.show(file), count: count}
		c.hits += count
	}
	return c.enough()
}

func (c *collector) enough() error {
	if c.hits < mostHits && len(c.all) < mostFiles {
		return nil
	}
	c.stopped = true
	return process.ErrEnough
}

func (c *collector) begin(file string) {
	f, known := c.all[file]
	if !known {
		f = &found{file: file, shown: c.show(file)}
		c.all[file] = f
	}
	c.at, c.last, c.skip, c.text = f, 0, known, math.MaxInt
	c.late = c.beyond != "" && byName(f.shown, c.beyond) > 0
	if c.search.Mode == Counts && !known {
		c.text = c.countable(file)
	}
}

// prune drops hits that cannot be shown any more, because enough others precede them.
func (c *collector) prune() {
	if c.kept <= 4*c.search.MaxMatches+1024 {
		return
	}
	c.kept = 0
	for _, f := range c.sorted() {
		if c.kept > c.search.MaxMatches {
			f.hits = nil
			continue
		}
		c.kept += len(f.hits)
		c.beyond = f.shown
	}
	c.late = byName(c.at.shown, c.beyond) > 0
}

// isText records that the engine read a file to its end and met no NUL byte.
func (c *collector) isText(file string) {
	if f := c.all[file]; f != nil {
		f.text = true
	}
}

// sorted returns all files with a match, in the order of results.
func (c *collector) sorted() []*found {
	list := make([]*found, 0, len(c.all))
	for _, f := range c.all {
		if f.count > 0 {
			list = append(list, f)
		}
	}
	slices.SortFunc(list, func(x, y *found) int { return byName(x.shown, y.shown) })
	return list
}

// result returns everything found; asked are the search paths as named in the call.
func (c *collector) result(asked []Path) *Result {
	for _, p := range asked {
		c.out.Paths = append(c.out.Paths, p.Show)
	}
	for _, f := range c.sorted() {
		if _, err := c.root.Stat(f.file); err != nil && c.textOf(f.file) == nil {
			continue // an engine was led outside by a link that was swapped in, or the file is gone
		}
		switch c.search.Mode {
		case Counts:
			c.addEntry(func() { c.out.Counts = append(c.out.Counts, Count{valid(f.shown), f.count}) })
		case Files:
			if lines, _ := c.read(f); f.hits == nil || len(lines) > 0 {
				c.addEntry(func() { c.out.Files = append(c.out.Files, valid(f.shown)) })
			}
		default:
			c.addLines(f)
		}
	}
	c.out.Unbounded = c.stopped
	c.out.Truncated = c.out.Truncated || c.stopped
	return &c.out
}

func valid(path string) string { return strings.ToValidUTF8(path, string(utf8.RuneError)) }

// addEntry adds a file or a count if there is room.
func (c *collector) addEntry(add func()) {
	if c.out.Total++; c.out.Total > c.search.MaxMatches {
		c.out.Truncated = true
		return
	}
	add()
}

// addLines adds the text of a file's hits and of the lines around them.
func (c *collector) addLines(f *found) {
	if c.full || len(f.hits) == 0 {
		c.leaveOut(f, f.count)
		return
	}
	count := f.count
	lines, text := c.read(f)
	if text < math.MaxInt {
		count, _ = slices.BinarySearchFunc(f.hits, text+1, func(h hit, line int) int { return cmp.Compare(h.line, line) })
	}
	starts := make(map[int]int, len(f.hits))
	for _, h := range f.hits {
		starts[h.line] = h.start
	}
	shown := valid(f.shown)
	var kept []int
	var around []fileLine
	for _, line := range lines {
		start, ok := starts[line.n]
		if !ok {
			around = append(around, line)
			continue
		}
		m := c.match(shown, line, start)
		if c.full = c.full || len(c.out.Matches) >= c.search.MaxMatches || !c.fits(&m.Text, len(c.out.Matches) == 0); c.full {
			break
		}
		c.out.Matches = append(c.out.Matches, m)
		kept = append(kept, line.n)
	}
	for _, line := range around {
		i, _ := slices.BinarySearch(kept, line.n)
		near := i < len(kept) && kept[i]-line.n <= c.search.Context ||
			i > 0 && line.n-kept[i-1] <= c.search.Context
		line, _ = line.decoded(0)
		text := shorten(line, 0)
		if near && c.fits(&text, false) {
			c.out.Context = append(c.out.Context, Line{shown, line.n, text})
		}
	}
	c.out.Total += len(kept)
	c.leaveOut(f, count-len(kept))
}

// leaveOut counts hits of a file that are not shown.
func (c *collector) leaveOut(f *found, hits int) {
	if hits <= 0 {
		return
	}
	c.out.Total += hits
	c.out.Truncated = true
	c.out.Elsewhere = append(c.out.Elsewhere, Count{valid(f.shown), hits})
}

// match returns one line as a result. Columns count characters.
func (c *collector) match(show string, line fileLine, start int) Match {
	if start < 0 && c.locate != nil {
		start = c.locate(line.raw)
	}
	line, start = line.decoded(start)
	m := Match{Path: show, Line: line.n, Text: shorten(line, max(start, 0))}
	if start >= 0 && start <= len(line.raw) {
		column := utf8.RuneCount(line.raw[:start]) + 1
		m.Column = &column
	}
	return m
}

// fits deducts text from the output limit. The very first text is cut to fit, so that a
// small limit never hides that there is a match.
func (c *collector) fits(text *string, first bool) bool {
	left := c.search.MaxBytes - c.bytes
	if len(*text) > left {
		c.full, c.out.Truncated = true, true
		if !first {
			return false
		}
		*text = string(files.CutRune([]byte(*text), left))
	}
	c.bytes += len(*text)
	return true
}

// show returns a file's path in the form of its search path.
func (c *collector) show(file string) string {
	if p := c.textOf(file); p != nil {
		return p.Show
	}
	for _, p := range c.search.Paths {
		if rel, err := filepath.Rel(p.real, file); err == nil && files.Local(rel) {
			return path.Join(p.Show, filepath.ToSlash(rel))
		}
	}
	return filepath.ToSlash(file)
}
