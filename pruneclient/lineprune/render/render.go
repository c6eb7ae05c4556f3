// Package render writes what was kept, and the markers of what was not.
package render

import (
	"fmt"
	"strconv"
	"strings"

	"mcp-pruner/pruneclient/lineprune/doc"
)

const (
	markerOpen  = "⟦PRUNÉ: "
	markerClose = "⟧"
	headerOpen  = "[pruned: "
	gapOpen     = "..."
)

// Options say how a result becomes text.
type Options struct {
	Header  string             // first line, without newline; "" for none
	Marker  func(Block) string // what stands for an omitted range; nil leaves nothing
	Numbers bool               // "N│ " before every kept line; never before a marker
}

// Text writes text without the blocks, byte for byte, with markers in their
// place. Without any block, unnumbered, it is text itself.
func Text(text string, blocks []Block, opts Options) string {
	if len(blocks) == 0 && !opts.Numbers {
		return text
	}
	var b strings.Builder
	b.Grow(len(text) + len(opts.Header) + 1)
	w := writer{&b, false}
	if opts.Header != "" && len(blocks) > 0 {
		w.line(opts.Header)
	}
	for i, line := range doc.Lines(text) {
		number := i + 1
		switch {
		case len(blocks) == 0 || number < blocks[0].Start:
			w.kept(number, line, opts.Numbers)
			continue
		case number == blocks[0].Start && opts.Marker != nil:
			w.line(opts.Marker(blocks[0]))
		}
		if number == blocks[0].End {
			blocks = blocks[1:]
		}
	}
	if strings.HasSuffix(text, "\n") {
		b.WriteByte('\n')
	}
	return b.String()
}

// writer joins lines with newlines.
type writer struct {
	b       *strings.Builder
	started bool
}

func (w *writer) kept(number int, line string, numbered bool) {
	if numbered {
		line = strconv.Itoa(number) + "│ " + line
	}
	w.line(line)
}

func (w *writer) line(s string) {
	if w.started {
		w.b.WriteByte('\n')
	}
	w.started = true
	w.b.WriteString(s)
}

// Marker is the canonical marker of an omitted range whose original is stored
// under id.
func Marker(id string, b Block) string {
	return fmt.Sprintf("%sprune_id=%s lignes %d-%d (%d) raison=%s%s", markerOpen, id, b.Start, b.End, b.Lines(), CleanReason(b.Reason), markerClose)
}

// ShortMarker marks a range nobody stored: its lines, nothing else.
func ShortMarker(b Block) string {
	return fmt.Sprintf("%slignes %d-%d (%d)%s", markerOpen, b.Start, b.End, b.Lines(), markerClose)
}

// Gap marks an omitted range for a model that reads the rest, in at most 6 tokens. first is
// the number of the text's first line.
func Gap(b Block, first int) string {
	start, end := b.Start+first-1, b.End+first-1
	switch {
	case start == end:
		return gapOpen + " " + strconv.Itoa(start)
	case end >= manyLines: // a space is a token
		return gapOpen + strconv.Itoa(start) + "-" + strconv.Itoa(end)
	}
	return gapOpen + " " + strconv.Itoa(start) + "-" + strconv.Itoa(end)
}

// manyLines is the first line number that is more than one token.
const manyLines = 1000

// isGap is true of what Gap writes.
func isGap(text string) bool {
	rest, ok := strings.CutPrefix(text, gapOpen)
	rest = strings.TrimPrefix(rest, " ")
	start, end, isRange := strings.Cut(rest, "-")
	return ok && digits(start) && (!isRange || digits(end))
}

func digits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// Header is the first line of a pruned text: how much is left of what, and what to
// do about the rest.
func Header(kept, total int, rest string) string {
	return fmt.Sprintf("%s%d of %d lines; %s]", headerOpen, kept, total, rest)
}

// CleanReason makes a reason safe within a marker: one line, no closing bracket.
func CleanReason(reason string) string {
	return strings.Map(func(r rune) rune {
		switch r {
		case '\n', '\r', '\u0085', '\u2028', '\u2029', '⟧', '⟦':
			return ' '
		}
		return r
	}, reason)
}

// Block is an omitted range of lines, both ends included.
type Block struct {
	Start, End int
	Reason     string // one line, in the document's language (French), e.g. "hors focus"
}

// Lines is how many lines the block omits.
func (b Block) Lines() int { return b.End - b.Start + 1 }
