// Package structure determines the kind of a text and groups its lines into units: definitions with their
// bodies, sections of a page, the files of a list of matches, the entries of a log. It reads records of JSON,
// YAML and tables, and a log's signs of trouble, its lines printed by the same statement, and the prefixes that
// other programs add to each line.
package structure

import (
	"slices"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/doc"
)

// Unit is a range of lines that belong together: a definition with its body and comment, a section of a
// page, an entry of a log.
type Unit struct {
	Start, End int // 0-based line numbers, end excluded; nested units lie within their parent
	Head       int // line number of the defining line, or -1
	Parent     int // index of the enclosing unit, or -1
}

// Outline holds the units of a text, and for every line the innermost unit that contains it.
type Outline struct {
	Units []Unit
	Of    []int32 // per line, the index of its unit, or -1
}

// Headed reports whether a unit has a heading.
func (o Outline) Headed() bool {
	return slices.ContainsFunc(o.Units, func(u Unit) bool { return u.Head >= 0 })
}

// Docs makes a unit of every heading with the lines that follow it.
func Docs(d *doc.Document) Outline {
	o := Outline{Of: make([]int32, len(d.Lines))}
	current, fence := int32(-1), ""
	var open, levels []int
	for i, line := range d.Lines {
		fence = FenceAfter(fence, line)
		if fence == "" && isHeading(line, d.Next(i)) {
			if current >= 0 {
				o.Units[current].End = i
			}
			level := headingLevel(line, d.Next(i))
			for len(open) > 0 && levels[len(levels)-1] >= level {
				open, levels = open[:len(open)-1], levels[:len(levels)-1]
			}
			o.Units = append(o.Units, Unit{i, len(d.Lines), i, int(top(open))})
			current = int32(len(o.Units) - 1)
			open, levels = append(open, int(current)), append(levels, level)
		}
		o.Of[i] = current
	}
	return o
}

// headingLevel returns the level of a heading, 1 for a title, or 0 if the line is no heading.
func headingLevel(line, next string) int {
	switch line[0] {
	case '#', '=':
		return len(line) - len(strings.TrimLeft(line, line[:1]))
	case '<', ' ', '\t':
		return tagLevel(line)
	case '\\':
		return texLevel(line)
	}
	if strings.HasPrefix(line, ".SS") || Underline(next) && next[0] != '=' {
		return 2
	}
	return 1
}

// FenceAfter returns the fence that is open after line, or "", given the fence that was open before it.
func FenceAfter(open, line string) string {
	t := strings.TrimLeft(line, " \t>")
	for _, f := range []string{"```", "~~~"} {
		if strings.HasPrefix(t, f) && !strings.HasPrefix(t, "~~~~") { // a longer row underlines a heading
			if open == "" {
				return f
			}
			if open == f {
				return ""
			}
		}
	}
	return open
}

// tagLevel is the depth of the HTML heading a line begins with, or 0. A long line is
// more than a heading.
func tagLevel(line string) int {
	const longest = 200
	t := line[doc.FirstVisible(line):]
	if len(t) > 3 && len(t) <= longest && t[0] == '<' && t[1]|0x20 == 'h' && t[2] >= '1' && t[2] <= '6' && (t[3] == '>' || t[3] == ' ') {
		return int(t[2] - '0')
	}
	return 0
}

// texLevel is the depth of the LaTeX heading a line begins with, or 0.
func texLevel(line string) int {
	for level, command := range []string{"\\part", "\\chapter", "\\section", "\\subsection", "\\subsubsection"} {
		if rest, ok := strings.CutPrefix(line, command); ok && (strings.HasPrefix(rest, "{") || strings.HasPrefix(rest, "*{")) {
			return level + 1
		}
	}
	return 0
}

// isHeading knows Markdown, AsciiDoc, HTML, LaTeX and underlined headings, and man
// pages' capitals.
func isHeading(line, next string) bool {
	if line == "" {
		return false
	}
	switch line[0] {
	case '#', '=':
		t := strings.TrimLeft(line, line[:1])
		return len(t) < len(line) && len(line)-len(t) <= 6 && strings.HasPrefix(t, " ") && len(t) > 1
	case ' ', '\t', '<':
		return tagLevel(line) > 0
	case '\\':
		return texLevel(line) > 0
	case '.':
		return strings.HasPrefix(line, ".SH") || strings.HasPrefix(line, ".SS") || strings.HasPrefix(line, ".TH")
	}
	if Underline(next) && len(next) >= min(len(line), 3) && doc.ByteClass[line[0]] != doc.OtherByte {
		return true
	}
	return len(line) > 2 && len(line) < 60 && line == strings.ToUpper(line) && doc.ByteClass[line[0]] == doc.Upper && !strings.ContainsAny(line, "_=;(){}")
}

func Underline(line string) bool {
	if line == "" || strings.IndexByte("=-~^", line[0]) < 0 {
		return false
	}
	rest := strings.TrimLeft(line, line[:1])
	return len(line)-len(rest) >= 3 && consistsOf(rest, " \r")
}

// consistsOf reports whether all bytes of a line are among the given ones. Most lines have another one near their beginning.
func consistsOf(line, bytes string) bool {
	for i := range len(line) {
		if strings.IndexByte(bytes, line[i]) < 0 {
			return false
		}
	}
	return true
}

// Grep makes a unit of every file in a list of matches.
func Grep(d *doc.Document) Outline {
	o := Outline{Of: make([]int32, len(d.Lines))}
	for i, p := range d.Places {
		if i == 0 || p.Path != d.Places[i-1].Path {
			if n := len(o.Units); n > 0 {
				o.Units[n-1].End = i
			}
			o.Units = append(o.Units, Unit{i, len(d.Lines), i, -1})
		}
		o.Of[i] = int32(len(o.Units) - 1)
	}
	return o
}
