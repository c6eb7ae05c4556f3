package lineprune

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/doc"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/structure"
)

const (
	markerOpen  = "⟦PRUNÉ: "
	markerClose = "⟧"
	headerOpen  = "[pruned: "
	gapOpen     = "..."
)

// RenderOptions control how a result is written.
type RenderOptions struct {
	Header  string             // first line, without its newline; "" for none
	Marker  func(Block) string // renders the marker of an omitted range; nil writes none
	Numbers bool               // writes "N│ " before every kept line, never before a marker
}

// Render writes the kept lines of text byte for byte and a marker in place of each omitted range. When
// every line was kept and lines are not numbered, it returns text itself.
func Render(text string, res Result, opts RenderOptions) string {
	blocks := res.Blocks
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

// Marker returns the canonical marker of an omitted range whose original is stored under id.
func Marker(id string, b Block) string {
	return fmt.Sprintf("%sprune_id=%s lignes %d-%d (%d) raison=%s%s", markerOpen, id, b.Start, b.End, b.Lines(), CleanReason(b.Reason), markerClose)
}

// ShortMarker returns the marker of an omitted range whose original is not stored. It gives only the line
// range.
func ShortMarker(b Block) string {
	return fmt.Sprintf("%slignes %d-%d (%d)%s", markerOpen, b.Start, b.End, b.Lines(), markerClose)
}

// Gap returns a marker for an omitted range, for a model that reads the remaining lines: "... 120-154", at
// most 6 tokens, and with what begins in the range, "... 120-154: func Close, type conn", at most 12. In
// structured data that is the records, or their number. Among JSON it is a value, so that the text remains
// JSON. first is the number of the text's first line.
func Gap(b Block, first int) string {
	lines := b.lineRange(first)
	content := cmp.Or(b.Content, b.names(lines), counted(b.Records, "record"))
	switch b.Place {
	case Member:
		return b.json(quoted(lines) + ": " + quoted(cmp.Or(content, leftOut)))
	case Element:
		return b.json(quoted(joined(lines, content)))
	case Comment:
		return commentOpen + joined(lines, content)
	}
	return joined(lines, content)
}

// NumberedGap returns the marker of an omitted range among numbered lines, whose numbers show the range.
func NumberedGap(b Block) string {
	return joined(gapOpen, cmp.Or(b.Content, b.names(gapOpen), counted(b.Records, "record")))
}

const (
	commentOpen = "# "
	leftOut     = "left out"
)

// json ends a marker among the elements of an array or the members of an object.
func (b Block) json(marker string) string {
	if b.Last {
		return marker
	}
	return marker + ","
}

func quoted(s string) string { return `"` + s + `"` }

func joined(lines, content string) string {
	if content == "" {
		return lines
	}
	return lines + ": " + content
}

// counted returns "12 records", or "" for none.
func counted(n int, noun string) string {
	switch n {
	case 0:
		return ""
	case 1:
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

func (b Block) lineRange(first int) string {
	start, end := b.Start+first-1, b.End+first-1
	switch {
	case start == end:
		return gapOpen + " " + strconv.Itoa(start)
	case end >= manyLines: // a space takes a token
		return gapOpen + strconv.Itoa(start) + "-" + strconv.Itoa(end)
	}
	return gapOpen + " " + strconv.Itoa(start) + "-" + strconv.Itoa(end)
}

// manyLines is the smallest line number that takes more than one token.
const manyLines = 1000

// GapRange returns the lines that a marker of Gap stands for. ok is false for any other line.
func GapRange(text string) (from, to int, ok bool) {
	text = strings.TrimPrefix(strings.TrimSuffix(text, ","), commentOpen)
	if inner, ok := strings.CutPrefix(text, `"`); ok {
		text = strings.Replace(strings.TrimSuffix(inner, `"`), `": "`, ": ", 1)
	}
	rest, ok := strings.CutPrefix(text, gapOpen)
	lines, content, said := strings.Cut(strings.TrimPrefix(rest, " "), ": ")
	start, end, isRange := strings.Cut(lines, "-")
	if !ok || !digits(start) || isRange && !digits(end) || said && (content == "" || len(content) > longestNames) {
		return 0, 0, false
	}
	from, _ = strconv.Atoi(start)
	if to = from; isRange {
		to, _ = strconv.Atoi(end)
	}
	return from, to, true
}

func digits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// Header returns the first line of a pruned text: how many of its lines were kept, followed by rest, which
// says how to get the others.
func Header(kept, total int, rest string) string {
	return fmt.Sprintf("%s%d of %d lines; %s]", headerOpen, kept, total, rest)
}

// CleanReason makes a reason safe to embed in a marker: a single line without a closing bracket.
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
	Reason     string // why it was omitted: one line in the document's language (French), e.g. "hors focus"

	Content string // what a marker says of it; "": names of its openings, or its records

	Records int   // records of structured data that it omits
	Place   Place // what a marker has to be there
	Last    bool  // in JSON, nothing follows in the same array or object

	Openings []structure.Opening // what begins in it, in the order of its lines
	Size     int                 // bytes; a marker names no openings of a block without it
}

// Place is the form that a marker must have so that the text around it keeps its own.
type Place uint8

const (
	Free    Place = iota
	Element       // an element of a JSON array
	Member        // a member of a JSON object
	Comment       // a comment of YAML
)

// SetReason sets the reason, followed by the number of records omitted.
func (b *Block) SetReason(why string) {
	b.Reason = why
	if b.Records > 0 {
		b.Reason += ", " + counted(b.Records, "enregistrement")
	}
}

// Lines returns the number of lines that the block omits.
func (b Block) Lines() int { return b.End - b.Start + 1 }
