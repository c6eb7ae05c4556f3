package structure

import (
	"strings"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/doc"
)

// Shape is the form of a text whose lines are related by something other than the syntax of a program or
// page.
type Shape uint8

const (
	Plain Shape = iota
	Table       // a header, then independent rows: CSV, TSV, JSON lines
	Keys        // keys with values, nested by indentation or brackets: JSON, YAML, TOML, XML
)

// ShapeOf recognises tables and nested keys.
func ShapeOf(d *doc.Document) Shape {
	switch {
	case isTable(d):
		return Table
	case isKeys(d):
		return Keys
	}
	return Plain
}

// delimiters separate the columns of a table, the most likely first.
const delimiters = "\t,;|"

// isTable reports whether nearly all sampled lines have as many delimiters as the first.
func isTable(d *doc.Document) bool {
	first := firstLine(d)
	if first < 0 {
		return false
	}
	if isRecord(d.Lines[first]) {
		return agrees(d, isRecord)
	}
	for _, c := range []byte(delimiters) {
		n := columns(d.Lines[first], c)
		if n >= doc.TableColumns && agrees(d, func(line string) bool { return columns(line, c) == n && !prosaic(line) }) {
			return true
		}
	}
	return false
}

// isRecord reports whether a line is a JSON object.
func isRecord(line string) bool {
	return strings.HasPrefix(line, `{"`) && strings.HasSuffix(strings.TrimRight(line, "\r"), "}")
}

// prosaic reports whether a line with commas is a sentence or code rather than a row.
func prosaic(line string) bool {
	return strings.Contains(line, ", ") && strings.Count(line, " ") > 2*strings.Count(line, ",")+2 || strings.ContainsAny(line[len(line)-1:], "{};(")
}

// columns returns the number of columns of a line: delimiters outside quotes, plus one.
func columns(line string, delimiter byte) int {
	n, quoted := 1, false
	for i := 0; i < len(line); i++ {
		switch {
		case line[i] == '"':
			quoted = !quoted
		case line[i] == delimiter && !quoted:
			n++
		}
	}
	return n
}

func firstLine(d *doc.Document) int {
	for i := range d.Lines {
		if !d.Blank(i) {
			return i
		}
	}
	return -1
}

// agrees reports whether nearly all sampled non-blank lines pass, and at least a few.
func agrees(d *doc.Document, pass func(line string) bool) bool {
	seen, passed := 0, 0
	for i := 0; i < len(d.Lines); i += 1 + len(d.Lines)/doc.ShapeSample {
		if d.Blank(i) {
			continue
		}
		seen++
		if pass(d.Lines[i]) {
			passed++
		}
	}
	return seen >= doc.TableRows && passed*100 >= seen*doc.ShapeShare
}

// isKeys reports whether nearly all sampled lines are a key, a value or a bracket.
func isKeys(d *doc.Document) bool {
	first := firstLine(d)
	return first >= 0 && agrees(d, func(line string) bool { return keyLine(line[doc.FirstVisible(line):]) })
}

// keyLine reports whether a line, without surrounding white space, is one of JSON, YAML, TOML or XML.
func keyLine(t string) bool {
	switch t[0] {
	case '"', '{', '}', '[', ']', '-', '<', '#':
		return !strings.HasSuffix(t, ";") && !strings.HasPrefix(t, "#include") && !strings.HasPrefix(t, "##")
	}
	key := 0
	for key < len(t) && (doc.InWord(doc.ByteClass[t[key]]) || strings.IndexByte("-./", t[key]) >= 0) {
		key++
	}
	if key == 0 || key == len(t) {
		return false
	}
	rest := strings.TrimLeft(t[key:], " ")
	return rest != "" && (rest[0] == ':' && (len(rest) == 1 || rest[1] == ' ' || rest[1] == '\r') || rest[0] == '=' && !strings.HasPrefix(rest, "==")) &&
		!strings.HasSuffix(t, ";") && !strings.HasSuffix(t, "{") && !strings.HasSuffix(t, "(")
}

// KeyOutline makes a unit of every key with the lines nested below it, by indentation and by the sections
// of TOML and INI files.
func KeyOutline(d *doc.Document) Outline {
	o := Outline{Of: make([]int32, len(d.Lines))}
	var open []int
	closeAt := func(i, depth int) {
		for len(open) > 0 && depthOf(d, o.Units[open[len(open)-1]].Head) >= depth {
			o.Units[open[len(open)-1]].End = i
			open = open[:len(open)-1]
		}
	}
	for i, line := range d.Lines {
		if d.Blank(i) {
			o.Of[i] = top(open)
			continue
		}
		if t := line[doc.FirstVisible(line):]; closes(t) || strings.HasPrefix(t, "</") { // a closing bracket belongs to the unit that it ends
			o.Of[i] = top(open)
			if len(open) > 0 && depthOf(d, o.Units[open[len(open)-1]].Head) == depthOf(d, i) {
				closeAt(i+1, depthOf(d, i))
			}
			continue
		}
		closeAt(i, depthOf(d, i))
		if opensKeys(d, i) {
			o.Units = append(o.Units, Unit{Start: i, End: len(d.Lines), Head: i, Parent: int(top(open))})
			open = append(open, len(o.Units)-1)
		}
		o.Of[i] = top(open)
	}
	return o
}

// depthOf returns the nesting depth of line i. A TOML section encloses its unindented keys, and a key of YAML
// the items of its list, which need no indentation.
func depthOf(d *doc.Document, i int) int {
	depth := 3*int(d.Indent[i]) + 1
	switch {
	case isSection(d.Lines[i]):
		depth--
	case isItem(d, i):
		depth++
	}
	return depth
}

// isSection reports whether a line is like "[servers.alpha]" or "[[products]]".
func isSection(line string) bool {
	line = strings.TrimRight(line, " \r")
	return len(line) > 2 && line[0] == '[' && line[len(line)-1] == ']' && doc.InWord(doc.ByteClass[strings.TrimLeft(line, "[")[0]])
}

// opensKeys reports whether the next line is nested in line i.
func opensKeys(d *doc.Document, i int) bool {
	for next := i + 1; next < len(d.Lines); next++ {
		if !d.Blank(next) {
			return depthOf(d, next) > depthOf(d, i)
		}
	}
	return false
}

// isItem reports whether line i is an item of a YAML list.
func isItem(d *doc.Document, i int) bool {
	return d.Indent[i] >= 0 && strings.HasPrefix(strings.TrimLeft(d.Lines[i], " ")+" ", "- ")
}
