package structure

import (
	"slices"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/doc"
	"github.com/mcp-pruner/mcp-pruner/tools/jsonspan"
)

// jsonShare is the fraction of a text, in percent, that its JSON must take up.
const jsonShare = 50

// jsonData returns the structure of a text that mostly is JSON, or nil.
func jsonData(d *doc.Document, text string) *Data {
	if strings.ContainsAny(text, "\x1b\r") { // the lines are without both
		text = strings.Join(d.Lines, "\n")
	}
	values := jsonspan.Find([]byte(text))
	size := 0
	for _, v := range values {
		if v.Parent < 0 {
			size += int(v.End - v.Start)
		}
	}
	if size*100 < len(text)*jsonShare {
		return nil
	}
	b := &jsonBuilder{data: &Data{Form: JSON}, text: text, values: values, starts: lineStarts(d)}
	b.build()
	if len(b.data.Parts) == 0 && b.lines > 1 { // an object on every line
		if b.longest*2 > len(text) {
			b.data.Solid = true
		}
		b.data.Form = Rows
	}
	b.data.outline(len(d.Lines))
	b.data.Solid = b.data.Solid || b.tangled(d) || len(b.data.Parts) == 0 && b.data.Form == JSON
	return b.data
}

// lineStarts returns the byte offset at which each line begins.
func lineStarts(d *doc.Document) []int32 {
	starts, at := make([]int32, len(d.Lines)), 0
	for i, line := range d.Lines {
		starts[i] = int32(at)
		at += len(line) + 1
	}
	return starts
}

// jsonBuilder turns values into parts.
type jsonBuilder struct {
	data   *Data
	text   string
	values []jsonspan.Value
	starts []int32 // per line

	partOf  []int32 // per value, its part; that of its container if it lies on one line
	fields  []field
	split   bool // a key and its value are on different lines, and the value is not a container
	lines   int  // lines that have JSON on one line
	longest int  // bytes of the longest such JSON
}

func (b *jsonBuilder) build() {
	b.partOf = make([]int32, len(b.values))
	isRecord, line := b.records(), 0
	for i, v := range b.values {
		for line+1 < len(b.starts) && b.starts[line+1] <= v.Member {
			line++
		}
		if isRecord[i] {
			b.data.recordAt = append(b.data.recordAt, int32(line))
		}
		b.partOf[i] = -1
		if v.Parent >= 0 {
			b.partOf[i] = b.partOf[v.Parent]
		}
		last := line
		if v.Holds() {
			last = b.lineOf(v.End - 1)
		}
		switch {
		case last > line:
			b.add(i, line, last, isRecord[i])
		case v.Parent < 0:
			b.lines, b.longest = b.lines+1, max(b.longest, int(v.End-v.Start))
		case b.lineOf(v.Start) != line:
			b.split = true
		case b.isField(v):
			b.fields = append(b.fields, field{line, b.partOf[i]})
		}
	}
	b.data.identify(b.fields)
}

// records marks the values that are records. Several objects that stand one below the other are records.
func (b *jsonBuilder) records() []bool {
	roots := make([]bool, len(b.values))
	n := 0
	for i, v := range b.values {
		if roots[i] = v.Parent < 0 && v.Kind == jsonspan.Object; roots[i] {
			n++
		}
	}
	if n >= 2 {
		return roots
	}
	return areRecords(b.values)
}

// add makes a part of value i, which spans lines first..last.
func (b *jsonBuilder) add(i, first, last int, isRecord bool) {
	v := b.values[i]
	part := Part{Start: first, End: last + 1, Parent: b.partOf[i], Record: isRecord, Array: v.Kind == jsonspan.Array, Stays: []int{first, last}}
	part.item = v.Parent >= 0 && b.values[v.Parent].Kind == jsonspan.Array
	if part.Parent < 0 && first > 0 && strings.TrimSpace(b.text[b.starts[first-1]:b.starts[first]]) != "" {
		part.Stays = append(part.Stays, first-1) // says what the JSON is
	}
	if opens := b.lineOf(v.Start); opens != first { // a key on a line of its own
		part.Stays = append(part.Stays, opens)
	}
	b.partOf[i] = int32(len(b.data.Parts))
	b.data.Parts = append(b.data.Parts, part)
}

// isField reports whether a value is a scalar or a text of an object, and its key names records.
func (b *jsonBuilder) isField(v jsonspan.Value) bool {
	if v.Holds() || v.Member == v.Start || b.partOf[v.Parent] < 0 || v.End-v.Start > longestField {
		return false
	}
	name, _, _ := strings.Cut(b.text[v.Member+1:v.Start], `"`)
	return identifies(name)
}

// longestField is the size in bytes of the longest value that identifies a record.
const longestField = 300

func (b *jsonBuilder) lineOf(at int32) int {
	line, exact := slices.BinarySearch(b.starts, at)
	if !exact {
		line--
	}
	return line
}

// tangled reports whether lines cannot be left out so that valid JSON remains, because a line closes one part
// and opens another, a line begins with a comma, or a value does not stand beside its key.
func (b *jsonBuilder) tangled(d *doc.Document) bool {
	closes := make([]bool, len(d.Lines))
	for _, p := range b.data.Parts {
		closes[p.End-1] = true
	}
	for _, p := range b.data.Parts {
		if closes[p.Start] {
			return true
		}
	}
	for i, line := range d.Lines {
		if b.data.Of[i] >= 0 && strings.HasPrefix(strings.TrimLeft(line, " \t"), ",") {
			return true
		}
	}
	return b.split
}
