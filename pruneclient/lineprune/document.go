package lineprune

import "strings"

// scoredPrefix bounds how much of one line is matched against the question: a
// minified file is one line, and its first page says what it is.
const scoredPrefix = 4096

// hit is one occurrence of a question's term.
type hit struct {
	line   int32
	group  int16
	at     uint16  // byte of the line its word begins at
	weight float32 // 1 for the word itself, less for a synonym
}

// document is a text cut into lines, with what one pass over its bytes found.
type document struct {
	lines   []string // without what only a terminal sees, a log's also without what was put in front of each
	full    []string // with that; nil where nothing was
	tokens  []int32  // per line, its newline included
	indent  []int16  // columns of leading white space, -1 on a blank line
	total   int      // tokens of the whole text
	escapes []int32  // per line, its tokens that only a terminal sees; nil: none
	raw     []string // with those; nil: none
	hits    []hit    // in line order

	places   []place // of a list of matches, per line
	pathHits []hit   // in the paths, at each file's first line
}

// place is where a match was found.
type place struct {
	path    string
	number  int
	content int // byte of the line its text begins at
}

func newDocument(text string) *document {
	lines := splitLines(text)
	d := &document{lines: lines, tokens: make([]int32, len(lines)), indent: make([]int16, len(lines))}
	d.raw, d.escapes = bareLines(lines, text)
	for i, line := range lines {
		d.indent[i] = indentOf(line)
	}
	return d
}

// locate reads the place of every match in a list of them. In a list of paths each is
// both a place and what was found there.
func (d *document) locate() {
	d.places = make([]place, len(d.lines))
	bare := listsPaths(d)
	for i, line := range d.lines {
		if bare {
			d.places[i] = place{path: line}
		} else {
			d.places[i] = grepPlace(line)
		}
	}
}

// size is the bytes of line i as it came.
func (d *document) size(i int) int {
	if d.raw != nil {
		return len(d.raw[i])
	}
	return len(d.scanned(i))
}

func (d *document) contentAt(i int) int {
	if d.places == nil {
		return 0
	}
	return d.places[i].content
}

// splitLines cuts on "\n" only, so numbers equal those of grep -n and editors; a
// final newline opens no line.
func splitLines(text string) []string {
	if text == "" {
		return nil
	}
	text = strings.TrimSuffix(text, "\n")
	lines := make([]string, 0, strings.Count(text, "\n")+1)
	for {
		line, rest, more := strings.Cut(text, "\n")
		lines = append(lines, line)
		if !more {
			return lines
		}
		text = rest
	}
}

// indentOf counts columns, a tab being one more than any depth of spaces needs.
func indentOf(line string) int16 {
	col := int16(0)
	for i := 0; i < len(line) && col < 400; i++ {
		switch line[i] {
		case ' ':
			col++
		case '\t':
			col += 4
		case '\r', '\f', '\v':
		default:
			return col
		}
	}
	return -1
}

func (d *document) blank(i int) bool { return d.indent[i] < 0 }

// tokensOf sums the tokens of lines a..b-1.
func (d *document) tokensOf(a, b int) int {
	sum := 0
	for _, t := range d.tokens[a:b] {
		sum += int(t)
	}
	return sum
}
