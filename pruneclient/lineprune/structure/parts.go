package structure

import (
	"slices"
	"strings"
	"sync"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/doc"
)

// Form is how the records of a text are written.
type Form uint8

// The forms. Rows are the lines of a table, or JSON objects of one line each. Mixed is any other text that has
// tables.
const (
	Mixed Form = iota
	JSON
	YAML
	Rows
	Events // an event stream
)

// Data is the structure of a text that consists of records. Its lines are left out so that what remains has
// the same structure: a part stays with its brackets or its key, a record with the fields that identify it.
type Data struct {
	Form     Form
	Parts    []Part  // parents precede their children
	Of       []int32 // per line, the innermost part that contains it, or -1
	Solid    bool    // the text cannot be cut between lines, because records share lines or one line is most of it
	recordAt []int32 // the lines on which records begin, ascending; one per record
}

// Part is an object, an array, a key with what is nested below it, or an event.
type Part struct {
	Start, End int   // lines, End excluded
	Parent     int32 // index of the enclosing part, or -1
	Record     bool  // it is one of many of its kind
	item       bool  // it is an element of a list, which may be in a record
	Array      bool  // a JSON array
	Stays      []int // lines that stay when any line of the part stays
}

// Nested reports whether the records have parts of several lines. It is false for nil.
func (d *Data) Nested() bool { return d != nil && d.Form != Rows && d.Form != Mixed }

// IsTable reports whether every line is a record. It is false for nil.
func (d *Data) IsTable() bool { return d != nil && d.Form == Rows }

// Records returns the number of records that begin in lines start..end-1.
func (d *Data) Records(start, end int) int {
	from, _ := slices.BinarySearch(d.recordAt, int32(start))
	to, _ := slices.BinarySearch(d.recordAt, int32(end))
	return to - from
}

// Around returns the innermost part that has lines before start and from end on, or nil.
func (d *Data) Around(start, end int) *Part {
	for p := d.Of[start]; p >= 0; p = d.Parts[p].Parent {
		if part := &d.Parts[p]; part.Start < start && part.End > end {
			return part
		}
	}
	return nil
}

// outline fills Of from the parts, which must be in the order of their first lines.
func (d *Data) outline(lines int) {
	d.Of = make([]int32, lines)
	open, next := int32(-1), 0
	for i := range d.Of {
		for open >= 0 && d.Parts[open].End <= i {
			open = d.Parts[open].Parent
		}
		for ; next < len(d.Parts) && d.Parts[next].Start == i; next++ {
			open = int32(next)
		}
		d.Of[i] = open
	}
}

// field is a line that may identify a record.
type field struct {
	line int
	part int32 // the innermost part that contains it
}

// identify makes records and the items of lists in them keep their identifying fields. A record that has none
// keeps the first ones nested in it, such as metadata.name.
func (d *Data) identify(fields []field) {
	own := make([]int, len(d.Parts))
	for _, f := range fields {
		if p := &d.Parts[f.part]; (p.Record || p.item) && own[f.part] < doc.IdentifyingFields {
			own[f.part]++
			p.stay(f.line)
		}
	}
	nested := make([]int, len(d.Parts))
	for _, f := range fields {
		r := f.part
		for r >= 0 && !d.Parts[r].Record {
			r = d.Parts[r].Parent
		}
		if r < 0 || own[r] > 0 || nested[r] == doc.NestedFields {
			continue
		}
		nested[r]++
		for p := f.part; p != r; p = d.Parts[p].Parent {
			for _, line := range d.Parts[p].Stays {
				d.Parts[r].stay(line)
			}
		}
		d.Parts[r].stay(f.line)
	}
}

func (p *Part) stay(line int) {
	if !slices.Contains(p.Stays, line) {
		p.Stays = append(p.Stays, line)
	}
}

var identifying = sync.OnceValue(func() map[string]bool { return doc.ListSet("data", "identifying") })

var identifyingEnds = sync.OnceValue(func() []string { return doc.ListWords("data", "identifying-ends") })

// identifies reports whether a field of this name tells a record from the others.
func identifies(name string) bool {
	lower := strings.ToLower(name)
	if identifying()[lower] {
		return true
	}
	return slices.ContainsFunc(identifyingEnds(), func(end string) bool { return strings.HasSuffix(name, end) })
}
