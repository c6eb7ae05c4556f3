// Package doc splits a text into lines and records their indentation, terminal escapes and, in a list of
// matches, the places they name. It splits lines into words: byte classes, parts of identifiers, stems, and
// the information in each word. And it holds the constants and word lists of the line pruner that are worth
// experimenting with, each with its unit and its source (consts.go, tune.go, lists); no other package defines
// such values.
package doc

import "strings"

// Document is a text split into lines, with the results of one pass over its bytes.
type Document struct {
	Lines   []string // without terminal escapes; in a log, also without the prefix of each line
	full    []string // with those prefixes; nil if there were none
	Tokens  []int32  // per line, its newline included
	Indent  []int16  // columns of leading white space, -1 on a blank line
	Total   int      // tokens of the whole text
	Escapes []int32  // per line, the tokens of its terminal escapes; nil: none
	raw     []string // with terminal escapes; nil: there were none
	Places  []place  // per line of a list of matches
	Heads   []int32  // per line of a list of matches, the line with the name of its file, or -1; nil if every match names its own file
}

// place is the location that a match names.
type place struct {
	Path    string
	Number  int
	content int // byte offset in the line at which the matched text begins
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

// Size returns the length in bytes of the original line i, including prefix and escapes.
func (d *Document) Size(i int) int {
	if d.raw != nil {
		return len(d.raw[i])
	}
	return len(d.Scanned(i))
}

// Scanned returns line i including its prefix.
func (d *Document) Scanned(i int) string {
	if d.full != nil {
		return d.full[i]
	}
	return d.Lines[i]
}

// Trim replaces the lines by bare, the same lines without their prefixes.
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

// Lines splits on "\n" only, so that line numbers equal those of grep -n and editors. A final newline does
// not start another line.
func Lines(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

// indentOf returns the columns of leading white space, a tab being 4, or -1 for a blank line.
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

// TokensOf returns the sum of the tokens of lines a..b-1.
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

// Following returns the few lines after i in which a long signature may end.
func (d *Document) Following(i int) []string {
	return d.Lines[i+1 : min(i+5, len(d.Lines))]
}
