package lineprune

import "strings"

// codeOutline finds definitions by keyword and shape and lets each reach to the
// next line that is not indented deeper, closing bracket included.
func codeOutline(d *document) outline {
	b := outliner{d: d, outline: outline{of: make([]int32, len(d.lines))}, comment: -1}
	for i, line := range d.lines {
		b.line(i, strings.TrimSpace(line))
	}
	return b.outline
}

// outliner reads a program line by line.
type outliner struct {
	outline
	d       *document
	open    []int // the units that have not ended, outermost first
	comment int   // first line of the comment just above, or -1
}

func (b *outliner) line(i int, text string) {
	if text == "" {
		b.of[i], b.comment = b.top(), -1
		return
	}
	if text[0] != '#' && b.leave(i, text) { // preprocessor lines ignore indentation
		b.comment = -1
		return
	}
	if isComment(text) {
		if b.comment < 0 {
			b.comment = i
		}
		b.of[i] = b.top()
		return
	}
	if isDefinition(text, b.d.following(i)) {
		b.enter(i)
	}
	b.of[i], b.comment = b.top(), -1
}

// leave ends the units line i is not part of, and says whether it is the closing
// line of one.
func (b *outliner) leave(i int, text string) bool {
	for len(b.open) > 0 {
		at := b.open[len(b.open)-1]
		u := &b.units[at]
		depth, here := b.d.indent[u.head], b.d.indent[i]
		if here > depth || here == depth && (text[0] == '{' || text[0] == ')' || !bodyOpen(b.d, u.head, i)) {
			return false
		}
		b.open = b.open[:len(b.open)-1]
		if here == depth && closes(text) {
			u.end, b.of[i] = i+1, int32(at)
			return true
		}
		u.end = i
		if b.comment >= 0 {
			u.end = b.comment
		}
	}
	return false
}

// enter opens the unit defined on line i; the comment just above is part of it.
func (b *outliner) enter(i int) {
	start := i
	if b.comment >= 0 {
		start = b.comment
	}
	b.units = append(b.units, unit{start, len(b.d.lines), i, int(b.top())})
	b.open = append(b.open, len(b.units)-1)
	for k := start; k < i; k++ {
		b.of[k] = b.top()
	}
}

func (b *outliner) top() int32 { return top(b.open) }

func top(open []int) int32 {
	if len(open) == 0 {
		return -1
	}
	return int32(open[len(open)-1])
}

func closes(text string) bool {
	return strings.IndexByte("})]", text[0]) >= 0 || text == "end" || strings.HasPrefix(text, "end ")
}

// bodyOpen says whether the unit defined at head has begun its body before line i:
// until then lines at its own depth still belong to its signature.
func bodyOpen(d *document, head, i int) bool {
	const longestSignature = 6
	if i-head > longestSignature {
		return true
	}
	for _, line := range d.lines[head:i] {
		line = strings.TrimRight(line, " \t\r")
		if line == "" || strings.IndexByte("{:;})", line[len(line)-1]) >= 0 || strings.Contains(line, "{") {
			return true
		}
	}
	return false
}
