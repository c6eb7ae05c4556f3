// Package doc is a text cut into lines: its kind, indentation, terminal escapes, and the places
// a list of matches names.
package doc

import "strings"

// Document is a text cut into lines, with what one pass over its bytes found.
type Document struct {
	Lines   []string // without what only a terminal sees, a log's also without what was put in front of each
	full    []string // with that; nil where nothing was
	Tokens  []int32  // per line, its newline included
	Indent  []int16  // columns of leading white space, -1 on a blank line
	Total   int      // tokens of the whole text
	Escapes []int32  // per line, its tokens that only a terminal sees; nil: none
	raw     []string // with those; nil: none
	Places  []place  // of a list of matches, per line
}

// place is where a match was found.
type place struct {
	Path    string
	Number  int
	content int // byte of the line its text begins at
}

func New(text string) *Document {
	lines := Lines(text)
	d := &Document{Lines: lines, Tokens: make([]int32, len(lines)), Indent: make([]int16, len(lines))}
	d.raw, d.Escapes = bareLines(lines, text)
	for i, line := range lines {
		d.Indent[i] = indentOf(line)
	}
	return d
}

// Locate reads the place of every match in a list of them. In a list of paths each is
// both a place and what was found there.
func (d *Document) Locate(bare bool) {
	d.Places = make([]place, len(d.Lines))
	for i, line := range d.Lines {
		if bare {
			d.Places[i] = place{Path: line}
		} else {
			d.Places[i] = grepPlace(line)
		}
	}
}

// Size is the bytes of line i as it came.
func (d *Document) Size(i int) int {
	if d.raw != nil {
		return len(d.raw[i])
	}
	return len(d.Scanned(i))
}

// Scanned is line i with what stands in front of it.
func (d *Document) Scanned(i int) string {
	if d.full != nil {
		return d.full[i]
	}
	return d.Lines[i]
}

// Trim replaces the lines by what is left of them without what stands in front of each.
func (d *Document) Trim(bare []string) {
	d.full, d.Lines = d.Lines, bare
	for i, line := range bare {
		d.Indent[i] = indentOf(line)
	}
}

func (d *Document) ContentAt(i int) int {
	if d.Places == nil {
		return 0
	}
	return d.Places[i].content
}

// Lines cuts on "\n" only, so numbers equal those of grep -n and editors; a
// final newline opens no line.
func Lines(text string) []string {
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

func (d *Document) Blank(i int) bool { return d.Indent[i] < 0 }

// TokensOf sums the tokens of lines a..b-1.
func (d *Document) TokensOf(a, b int) int {
	sum := 0
	for _, t := range d.Tokens[a:b] {
		sum += int(t)
	}
	return sum
}

func (d *Document) Next(i int) string {
	if i+1 < len(d.Lines) {
		return d.Lines[i+1]
	}
	return ""
}

// Following is the few lines after i, where a long signature ends.
func (d *Document) Following(i int) []string {
	return d.Lines[i+1 : min(i+5, len(d.Lines))]
}
