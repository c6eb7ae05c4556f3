package structure

import (
	"slices"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/doc"
)

// Heads returns for every line of a listing, such as the output of a command, the line number of its heading, or -1:
//
//	=== PR 7 ===        and the other forms of Title head the lines up to the next title of that form
//	Changes to commit:  heads the lines below it up to a blank one
//	Name: web-1         heads its record up to the next one, if several paragraphs begin with that key
//	  key               heads the lines that are indented deeper, drawn branches included
func Heads(d *doc.Document) []int32 {
	f := headFinder{d: d, heads: make([]int32, len(d.Lines)), records: recordKeys(d)}
	for i := range d.Lines {
		f.line(i)
	}
	return f.heads
}

// PageHeads returns for every line of a page its heading, or -1: for an item of a list within another item that one, as in
// the tree of a web page, and for any other line the heading of the innermost section that contains it; for a heading
// that of the section around it.
func PageHeads(d *doc.Document, o Outline) []int32 {
	heads := make([]int32, len(o.Of))
	var items []int // the open items of lists, each deeper than the one before
	for i, u := range o.Of {
		if u >= 0 && o.Units[u].Head == i {
			u = int32(o.Units[u].Parent)
		}
		heads[i] = -1
		if u >= 0 {
			heads[i] = int32(o.Units[u].Head)
		}
		if d.Blank(i) {
			continue
		}
		column := doc.FirstVisible(d.Lines[i])
		for len(items) > 0 && doc.FirstVisible(d.Lines[items[len(items)-1]]) >= column {
			items = items[:len(items)-1]
		}
		if !strings.HasPrefix(d.Lines[i][column:], "- ") {
			continue
		}
		if len(items) > 0 && o.Of[i] == o.Of[items[len(items)-1]] {
			heads[i] = int32(items[len(items)-1])
		}
		items = append(items, i)
	}
	return heads
}

// SmallItems returns the ranges of lines of the largest items of lists that have items within them and at most the given
// number of lines.
func SmallItems(d *doc.Document, lines int) (items [][2]int) {
	for i := 0; i < len(d.Lines); i++ {
		column := doc.FirstVisible(d.Lines[i])
		if d.Blank(i) || !strings.HasPrefix(d.Lines[i][column:], "- ") {
			continue
		}
		end := i + 1
		for end < len(d.Lines) && !d.Blank(end) && doc.FirstVisible(d.Lines[end]) > column {
			end++
		}
		if end-i > 1 && end-i <= lines {
			items = append(items, [2]int{i, end})
			i = end - 1
		}
	}
	return items
}

// depths of headings. Titles stand above everything; a line that introduces others stands above those with its own
// indentation.
const (
	titleDepth = -1000
	perColumn  = 2
)

// openHead is a heading whose lines have not ended.
type openHead struct {
	line  int32
	depth int
}

type headFinder struct {
	d       *doc.Document
	heads   []int32
	open    []openHead
	styles  []string        // forms of titles, the outermost first
	records map[string]bool // keys with which records begin
}

func (f *headFinder) line(i int) {
	if f.d.Blank(i) {
		f.heads[i] = -1
		f.closeParagraph()
		return
	}
	text := f.d.Lines[i][doc.FirstVisible(f.d.Lines[i]):]
	style, ok := Title(f.d.Lines[i])
	if !ok && len(f.records) > 0 && begins(f.d, i) {
		key := keyOf(text)
		style, ok = key, f.records[key]
	}
	if ok {
		f.push(i, titleDepth+f.rank(style))
		return
	}
	if verdict(text) { // of the test whose run it ends
		f.close(titleDepth + f.rank(goRun))
	}
	depth := depthIn(f.d, i) * perColumn
	switch {
	case len(text) > longestHead:
		f.heads[i] = f.above(depth)
	case f.introduces(i, text):
		f.push(i, depth-1)
	case f.opensDeeper(i, text) && names(text):
		f.push(i, depth)
	default:
		f.heads[i] = f.above(depth)
	}
}

func (f *headFinder) push(i, depth int) {
	f.heads[i] = f.above(depth)
	f.open = append(f.open, openHead{int32(i), depth})
}

// above ends the headings that are not above a depth and returns the innermost of the others, or -1.
func (f *headFinder) above(depth int) int32 {
	f.close(depth)
	if len(f.open) == 0 {
		return -1
	}
	return f.open[len(f.open)-1].line
}

func (f *headFinder) close(depth int) {
	for len(f.open) > 0 && f.open[len(f.open)-1].depth >= depth {
		f.open = f.open[:len(f.open)-1]
	}
}

// closeParagraph ends the headings that head lines with their own indentation.
func (f *headFinder) closeParagraph() {
	for n := len(f.open); n > 0 && f.open[n-1].depth > titleDepth/2 && f.open[n-1].depth%perColumn != 0; n-- {
		f.open = f.open[:n-1]
	}
}

// rank returns the position of a form of titles. A form that occurs first is above one that occurs first below it.
func (f *headFinder) rank(style string) int {
	if at := slices.Index(f.styles, style); at >= 0 {
		return at
	}
	f.styles = append(f.styles, style)
	return len(f.styles) - 1
}

// introduces reports whether a line heads the next one although that is not indented deeper.
func (f *headFinder) introduces(i int, text string) bool {
	if i+1 >= len(f.d.Lines) || f.d.Blank(i+1) || depthIn(f.d, i+1) != depthIn(f.d, i) {
		return false
	}
	end := strings.TrimRight(text, " \r")
	return end[len(end)-1] == ':' && (begins(f.d, i) || !strings.Contains(end, " "))
}

// opensDeeper reports whether the next line that is not blank is indented deeper. After a blank line it belongs to a key
// with a value no more, as the message of a commit.
func (f *headFinder) opensDeeper(i int, text string) bool {
	for next := i + 1; next < len(f.d.Lines); next++ {
		if !f.d.Blank(next) {
			return depthIn(f.d, next) > depthIn(f.d, i) && (next == i+1 || keyOf(text) == "")
		}
	}
	return false
}

// names reports whether a line that others are nested in says what they belong to. A node of a page's accessibility tree
// without a name does not, nor does a remark or a lone bracket.
func names(text string) bool {
	switch {
	case strings.HasPrefix(text, "("), !doc.HasLetter(text):
		return false
	case strings.HasPrefix(text, "uid="), strings.Contains(text, "[ref="):
		return strings.Contains(text, `"`)
	}
	return true
}

// depthIn returns the columns before the text of a line, drawn branches of a tree included.
func depthIn(d *doc.Document, i int) int {
	line := d.Lines[i]
	if !branched(line) {
		return int(d.Indent[i])
	}
	col := 0
	for _, r := range line {
		if col == deepest || !strings.ContainsRune(" \t\u00a0│├└─|`+\\-", r) {
			break
		}
		col++
	}
	return col
}

// deepest is the largest depth that is told apart, in columns.
const deepest = 400

// branched reports whether a line is one of a drawn tree: "│   ├── a", "|   |-- a", "|  +- a".
func branched(line string) bool {
	if line == "" || line[0] != ' ' && line[0] != '|' && line[0] != '`' && line[0] != '+' && line[0] != '\\' && line[0] < 0x80 {
		return false
	}
	start := line[:min(len(line), longestHead)]
	return slices.ContainsFunc(branches, func(mark string) bool { return strings.Contains(start, mark) })
}

var branches = []string{"── ", "|-- ", "`-- ", "+- ", `\- `, "+-- "}

// begins reports whether a line that is not blank follows a blank line or a rule, or is the first.
func begins(d *doc.Document, i int) bool {
	return i == 0 || d.Blank(i-1) || Underline(d.Lines[i-1])
}

// identities are keys whose values tell records apart.
var identities = map[string]bool{
	"id": true, "name": true, "title": true, "number": true, "pr": true, "issue": true, "package": true, "file": true, "path": true, "url": true, "user": true,
	"host": true, "ref": true, "branch": true, "tag": true, "sha": true, "key": true, "job": true, "test": true, "author": true, "from": true,
}

// recordKeys returns the keys with which two paragraphs or more begin. A key that does not tell records apart counts only
// if another key follows on the next line.
func recordKeys(d *doc.Document) map[string]bool {
	seen, again := map[string]bool{}, map[string]bool{}
	for i := range d.Lines {
		if d.Blank(i) || len(seen) > mostKeys || !begins(d, i) { // most lines begin nothing
			continue
		}
		key := keyOf(d.Lines[i][doc.FirstVisible(d.Lines[i]):])
		if key == "" || !identities[strings.ToLower(key)] && keyOf(strings.TrimSpace(d.Next(i))) == "" {
			continue
		}
		if seen[key] {
			again[key] = true
		}
		seen[key] = true
	}
	return again
}

// mostKeys bounds the keys of paragraphs that are told apart.
const mostKeys = 1000

// keyOf returns the key of "Key: value", or "".
func keyOf(text string) string {
	const longest = 40
	key, value, ok := strings.Cut(text[:min(len(text), longest+2)], ":")
	if !ok || key == "" || value == "" || value[0] != ' ' && value[0] != '\t' || !doc.Letter(key[0]) || strings.ContainsAny(key, "()[]{}=\"'/") {
		return ""
	}
	return key
}
