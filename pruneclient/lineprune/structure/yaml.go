package structure

import (
	"strings"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/doc"
)

// isYAML reports whether a text is YAML: nearly all lines are items, keys that end in a colon, or the text of a key
// above them, and a quarter are keys without a dash. A list of a page has none of these.
func isYAML(d *doc.Document) bool {
	seen, passed, keys, nested := 0, 0, 0, 0
	text := int16(-1) // indentation of the key whose text follows, or -1
	for i := range d.Lines[:min(len(d.Lines), yamlSample)] {
		if d.Blank(i) || text >= 0 && d.Indent[i] > text {
			continue
		}
		t := strings.TrimRight(d.Lines[i][doc.FirstVisible(d.Lines[i]):], " \r")
		seen++
		text = -1
		key, isKey := yamlKey(t)
		switch {
		case isKey:
			keys++
			passed++
		case isItem(d, i), t[0] == '#', t == "---":
			passed++
		}
		if isKey && t != key+":" || isItem(d, i) && strings.Contains(t, ": ") {
			text = d.Indent[i]
			if isItem(d, i) {
				text += 2 // its other keys stand below the first
			}
		}
		if d.Indent[i] > 0 || isItem(d, i) {
			nested++
		}
	}
	return seen >= doc.TableRows && nested*4 >= seen && keys*4 >= seen && passed*100 >= seen*doc.ShapeShare
}

// yamlSample is the number of lines that decide whether a text is YAML.
const yamlSample = 1000

// yamlKey returns the key at the beginning of a line without its indentation.
func yamlKey(t string) (string, bool) {
	key, rest, ok := strings.Cut(t, ":")
	key = strings.Trim(key, `"'`)
	return key, ok && key != "" && !strings.ContainsAny(key, " <={[") && (rest == "" || rest[0] == ' ' || rest[0] == '\r')
}

// yamlBuilder turns the units of nested keys into parts. Documents come first.
type yamlBuilder struct {
	d      *doc.Document
	data   *Data
	parent []int32 // per line, the part that holds it as an item or a key: that of its list or of its mapping
}

func yamlData(d *doc.Document) *Data {
	b := &yamlBuilder{d: d, data: &Data{Form: YAML}}
	b.parts()
	b.data.outline(len(d.Lines))
	b.parents()
	if !b.documents() && !b.items() {
		b.keyed()
	}
	b.data.identify(b.fields())
	return b.data
}

// parts makes a part of every document of several, and of every key or item with lines below it.
func (b *yamlBuilder) parts() {
	starts := []int{}
	for i, line := range b.d.Lines {
		if strings.TrimRight(line, " \r") == "---" {
			starts = append(starts, i)
		}
	}
	if len(starts) > 0 && strings.TrimSpace(strings.Join(b.d.Lines[:starts[0]], "")) != "" {
		starts = append([]int{0}, starts...)
	}
	if len(starts) < 2 {
		starts = nil
	}
	o := KeyOutline(b.d)
	at := make([]int32, len(o.Units)) // per unit, its part
	document, next := int32(-1), 0
	for u, unit := range o.Units {
		for next < len(starts) && starts[next] <= unit.Start {
			document = b.document(starts, next)
			next++
		}
		parent := document
		if unit.Parent >= 0 {
			parent = at[unit.Parent]
		}
		at[u] = int32(len(b.data.Parts))
		b.data.Parts = append(b.data.Parts, Part{Start: unit.Start, End: unit.End, Parent: parent, item: isItem(b.d, unit.Head), Stays: []int{unit.Head}})
	}
	for ; next < len(starts); next++ {
		b.document(starts, next)
	}
}

func (b *yamlBuilder) document(starts []int, k int) int32 {
	end := len(b.d.Lines)
	if k+1 < len(starts) {
		end = starts[k+1]
	}
	b.data.Parts = append(b.data.Parts, Part{Start: starts[k], End: end, Parent: -1, Stays: []int{starts[k]}, Record: true})
	return int32(len(b.data.Parts) - 1)
}

func (b *yamlBuilder) parents() {
	b.parent = make([]int32, len(b.d.Lines))
	for i := range b.parent {
		b.parent[i] = b.data.Of[i]
		if p := b.data.Of[i]; p >= 0 && b.data.Parts[p].Start == i {
			b.parent[i] = b.data.Parts[p].Parent
		}
	}
}

// documents counts the documents of a text of several as its records.
func (b *yamlBuilder) documents() bool {
	for _, p := range b.data.Parts {
		if p.Record {
			b.data.recordAt = append(b.data.recordAt, int32(p.Start))
		}
	}
	return len(b.data.recordAt) > 0
}

// items marks the items of the outermost lists of at least two.
func (b *yamlBuilder) items() bool {
	count := map[int32]int{}
	for i := range b.d.Lines {
		if isItem(b.d, i) {
			count[b.parent[i]]++
		}
	}
	inside := make([]bool, len(b.data.Parts)) // in a record, or a record
	for p, part := range b.data.Parts {
		inside[p] = part.Parent >= 0 && inside[part.Parent]
		if !inside[p] && isItem(b.d, part.Start) && count[part.Parent] >= 2 {
			inside[p], b.data.Parts[p].Record = true, true
		}
	}
	nested := false
	for i := range b.d.Lines {
		up := b.parent[i]
		if isItem(b.d, i) && count[up] >= 2 && (up < 0 || !inside[up]) {
			b.data.recordAt = append(b.data.recordAt, int32(i))
			nested = nested || b.data.Of[i] != up
		}
	}
	if !nested { // lists of words only: the keys may be what the text is about
		b.data.recordAt = nil
	}
	return nested
}

// keyed marks the keys of mappings of at least three keys that all have something below them.
func (b *yamlBuilder) keyed() {
	all, deep, largest := map[int32]int{}, map[int32]int{}, map[int32]int{}
	for i, line := range b.d.Lines {
		if !b.d.Blank(i) && line[doc.FirstVisible(line)] != '#' {
			all[b.parent[i]]++
		}
	}
	for _, p := range b.data.Parts {
		deep[p.Parent]++
		largest[p.Parent] = max(largest[p.Parent], p.End-p.Start)
	}
	inside := make([]bool, len(b.data.Parts))
	for i, p := range b.data.Parts {
		size := len(b.d.Lines)
		if p.Parent >= 0 {
			size = b.data.Parts[p.Parent].End - b.data.Parts[p.Parent].Start
		}
		inside[i] = p.Parent >= 0 && inside[p.Parent]
		if n := deep[p.Parent]; !inside[i] && n >= 3 && n == all[p.Parent] && largest[p.Parent]*2 <= size {
			inside[i], b.data.Parts[i].Record = true, true
			b.data.recordAt = append(b.data.recordAt, int32(p.Start))
		}
	}
}

// fields lists the lines that may identify a record.
func (b *yamlBuilder) fields() []field {
	var list []field
	for i, line := range b.d.Lines {
		p := b.data.Of[i]
		if p < 0 || b.d.Blank(i) || len(line) > longestField {
			continue
		}
		t := strings.TrimLeft(line, " ")
		t = strings.TrimLeft(strings.TrimPrefix(t, "- "), " ")
		if name, ok := yamlKey(t); ok && strings.TrimSpace(t) != name+":" && identifies(name) {
			list = append(list, field{i, p})
		}
	}
	return list
}
