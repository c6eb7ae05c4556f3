package lineprune

import "strings"

// unit is a stretch of lines that belongs together: a definition with its body and
// comment, a section of a page, a block of a log.
type unit struct {
	start, end int // lines, 0-based, end excluded; nested units lie within their parent
	head       int // the defining line, or -1
	parent     int // index of the enclosing unit, or -1
}

// outline is the units of a text and the innermost one of every line.
type outline struct {
	units []unit
	of    []int32 // per line, -1 for none
}

func (d *document) next(i int) string {
	if i+1 < len(d.lines) {
		return d.lines[i+1]
	}
	return ""
}

// following is the few lines after i, where a long signature ends.
func (d *document) following(i int) []string {
	return d.lines[i+1 : min(i+5, len(d.lines))]
}

// docsOutline makes a unit of every heading with what follows it.
func docsOutline(d *document) outline {
	o := outline{of: make([]int32, len(d.lines))}
	current, fence := int32(-1), ""
	var open, levels []int
	for i, line := range d.lines {
		fence = fenceAfter(fence, line)
		if fence == "" && isHeading(line, d.next(i)) {
			if current >= 0 {
				o.units[current].end = i
			}
			level := headingLevel(line, d.next(i))
			for len(open) > 0 && levels[len(levels)-1] >= level {
				open, levels = open[:len(open)-1], levels[:len(levels)-1]
			}
			o.units = append(o.units, unit{i, len(d.lines), i, int(top(open))})
			current = int32(len(o.units) - 1)
			open, levels = append(open, int(current)), append(levels, level)
		}
		o.of[i] = current
	}
	return o
}

// headingLevel is a heading's depth, 1 being the title.
func headingLevel(line, next string) int {
	switch line[0] {
	case '#', '=':
		return len(line) - len(strings.TrimLeft(line, line[:1]))
	case '<', ' ', '\t':
		return tagLevel(line)
	case '\\':
		return texLevel(line)
	}
	if strings.HasPrefix(line, ".SS") || underline(next) && next[0] != '=' {
		return 2
	}
	return 1
}

// fenceAfter is the open fence after line, given the one open before it.
func fenceAfter(open, line string) string {
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
	t := line[firstVisible(line):]
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
	if underline(next) && len(next) >= min(len(line), 3) && class[line[0]] != other {
		return true
	}
	return len(line) > 2 && len(line) < 60 && line == strings.ToUpper(line) && class[line[0]] == upper && !strings.ContainsAny(line, "_=;(){}")
}

func underline(line string) bool {
	line = strings.TrimRight(line, " \r")
	return len(line) >= 3 && strings.IndexByte("=-~^", line[0]) >= 0 && strings.Trim(line, line[:1]) == ""
}

// grepOutline makes a unit of every file in a list of matches.
func grepOutline(d *document) outline {
	o := outline{of: make([]int32, len(d.lines))}
	for i, p := range d.places {
		if i == 0 || p.path != d.places[i-1].path {
			if n := len(o.units); n > 0 {
				o.units[n-1].end = i
			}
			o.units = append(o.units, unit{i, len(d.lines), i, -1})
		}
		o.of[i] = int32(len(o.units) - 1)
	}
	return o
}
