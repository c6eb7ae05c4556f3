package structure

import (
	"strings"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/doc"
)

// Code finds definitions by keyword and shape. Each extends to the next line that is not indented deeper,
// including the closing bracket.
func Code(d *doc.Document) Outline {
	b := outliner{d: d, Outline: Outline{Of: make([]int32, len(d.Lines))}, comment: -1}
	for i, line := range d.Lines {
		b.line(i, strings.TrimSpace(line))
	}
	return b.Outline
}

// outliner builds the outline of a program line by line.
type outliner struct {
	Outline
	d       *doc.Document
	open    []int // units not ended yet, outermost first
	comment int   // first line of the comment directly above, or -1
}

func (b *outliner) line(i int, text string) {
	if text == "" {
		b.Of[i], b.comment = b.top(), -1
		return
	}
	if text[0] != '#' && b.leave(i, text) { // preprocessor lines ignore indentation
		b.comment = -1
		return
	}
	if IsComment(text) {
		if b.comment < 0 {
			b.comment = i
		}
		b.Of[i] = b.top()
		return
	}
	if IsDefinition(text, b.d.Following(i)) {
		b.enter(i)
	}
	b.Of[i], b.comment = b.top(), -1
}

// leave ends the units that line i does not belong to. It reports whether the line closes one of them.
func (b *outliner) leave(i int, text string) bool {
	for len(b.open) > 0 {
		at := b.open[len(b.open)-1]
		u := &b.Units[at]
		depth, here := b.d.Indent[u.Head], b.d.Indent[i]
		if here > depth || here == depth && (text[0] == '{' || text[0] == ')' || !typeSignature(text) && !bodyOpen(b.d, u.Head, i)) {
			return false
		}
		b.open = b.open[:len(b.open)-1]
		if here == depth && closes(text) {
			u.End, b.Of[i] = i+1, int32(at)
			return true
		}
		u.End = i
		if b.comment >= 0 {
			u.End = b.comment
		}
	}
	return false
}

// enter opens the unit defined on line i. The comment directly above is part of the unit.
func (b *outliner) enter(i int) {
	start := i
	if b.comment >= 0 {
		start = b.comment
	}
	b.Units = append(b.Units, Unit{start, len(b.d.Lines), i, int(b.top())})
	b.open = append(b.open, len(b.Units)-1)
	for k := start; k < i; k++ {
		b.Of[k] = b.top()
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

// bodyOpen reports whether the body of the unit defined at head has begun before line i. Until then, lines
// at the same depth as head belong to the signature.
func bodyOpen(d *doc.Document, head, i int) bool {
	if i-head > doc.LongestSignature {
		return true
	}
	for _, line := range d.Lines[head:i] {
		line = strings.TrimRight(line, " \t\r")
		if line == "" || strings.IndexByte("{:;})", line[len(line)-1]) >= 0 || strings.Contains(line, "{") {
			return true
		}
	}
	return false
}
