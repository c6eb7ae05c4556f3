package recovery

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// NotFound says that an id was never given out, or is too old.
type NotFound struct{ ID string }

func (e *NotFound) Error() string { return "prune_id_not_found: " + e.ID }

// BadRange says that a range asks for lines a text does not have.
type BadRange struct {
	Range   Range
	MaxLine *int // the text's last line, when Range begins behind it
}

func (e *BadRange) Error() string {
	if e.MaxLine != nil {
		return fmt.Sprintf("invalid_range: line %d is past the end (%d)", e.Range.Start, *e.MaxLine)
	}
	return fmt.Sprintf("invalid_range: %d-%d", e.Range.Start, e.Range.End)
}

// Range is lines Start to End, both included, counted from 1. An End past the
// last line means the last line.
type Range struct {
	Start int `json:"start_line"`
	End   int `json:"end_line"`
}

// Text is an original and where its lines are. Lines end at "\n" and nowhere
// else; a final "\n" opens no further line; "\r" belongs to its line.
type Text struct {
	text string
	ends []int // the offset behind each line, its "\n" not included
}

// NewText finds the lines of a text.
func NewText(text string) Text {
	ends := make([]int, 0, strings.Count(text, "\n")+1)
	for at := 0; at < len(text); {
		n := strings.IndexByte(text[at:], '\n')
		if n < 0 {
			n = len(text) - at
		}
		ends = append(ends, at+n)
		at += n + 1
	}
	return Text{text: text, ends: ends}
}

// String is the whole original, byte for byte.
func (t Text) String() string { return t.text }

// Len is the number of lines.
func (t Text) Len() int { return len(t.ends) }

// Line returns line n, which must exist.
func (t Text) Line(n int) string {
	start := 0
	if n > 1 {
		start = t.ends[n-2] + 1
	}
	return t.text[start:t.ends[n-1]]
}

// All returns every line.
func (t Text) All() []string {
	lines := make([]string, t.Len())
	for i := range lines {
		lines[i] = t.Line(i + 1)
	}
	return lines
}

// Lines returns the lines of the ranges in the order of the ranges, joined by
// "\n", each behind its number ("12│ ") when numbered. Lines asked for twice
// come twice. One unnumbered range over everything is the original to its last
// byte, a final "\n" included. No ranges give no lines.
func (t Text) Lines(ranges []Range, numbered bool) (string, error) {
	head, _, err := t.Page(ranges, numbered, 0)
	return head, err
}

// Page is Lines up to about limit bytes (0: no limit): as many whole lines as
// fit, but at least one. rest is what to ask for next, nil at the end.
func (t Text) Page(ranges []Range, numbered bool, limit int) (head string, rest []Range, err error) {
	if ranges, err = t.clamp(ranges); err != nil {
		return "", nil, err
	}
	if len(ranges) == 1 && ranges[0] == (Range{1, t.Len()}) && !numbered && (limit == 0 || len(t.text) <= limit) {
		return t.text, nil, nil
	}
	var out strings.Builder
	first := true
	for i, r := range ranges {
		for n := r.Start; n <= r.End; n++ {
			if !first && limit > 0 && out.Len()+1+t.width(n, numbered) > limit {
				return out.String(), append([]Range{{n, r.End}}, ranges[i+1:]...), nil
			}
			if !first {
				out.WriteByte('\n')
			}
			t.write(&out, n, numbered)
			first = false
		}
	}
	return out.String(), nil, nil
}

// Matching returns the lines within the ranges (none: everywhere) that re
// matches, each behind its number, up to about limit bytes (0: no limit). A
// line is matched without its "\r". next is where to go on, 0 at the end.
func (t Text) Matching(re *regexp.Regexp, ranges []Range, limit int) (lines string, count int, rest []Range, err error) {
	if len(ranges) == 0 && t.Len() > 0 {
		ranges = []Range{{1, t.Len()}}
	}
	if ranges, err = t.clamp(ranges); err != nil {
		return "", 0, nil, err
	}
	var out strings.Builder
	for i, r := range ranges {
		for n := r.Start; n <= r.End; n++ {
			if !re.MatchString(strings.TrimSuffix(t.Line(n), "\r")) {
				continue
			}
			if count > 0 && limit > 0 && out.Len()+1+t.width(n, true) > limit {
				return out.String(), count, append([]Range{{n, r.End}}, ranges[i+1:]...), nil
			}
			if count > 0 {
				out.WriteByte('\n')
			}
			t.write(&out, n, true)
			count++
		}
	}
	return out.String(), count, nil, nil
}

// clamp checks every range and cuts it at the last line.
func (t Text) clamp(ranges []Range) ([]Range, error) {
	clamped := make([]Range, len(ranges))
	for i, r := range ranges {
		if r.Start < 1 || r.End < r.Start {
			return nil, &BadRange{Range: r}
		}
		if last := t.Len(); r.Start > last {
			return nil, &BadRange{Range: r, MaxLine: &last}
		}
		clamped[i] = Range{r.Start, min(r.End, t.Len())}
	}
	return clamped, nil
}

// width is how many bytes write adds for a line.
func (t Text) width(n int, numbered bool) int {
	if numbered {
		return len(number(n)) + len(t.Line(n))
	}
	return len(t.Line(n))
}

func (t Text) write(out *strings.Builder, n int, numbered bool) {
	if numbered {
		out.WriteString(number(n))
	}
	out.WriteString(t.Line(n))
}

// number is the document's prefix of a numbered line.
func number(n int) string { return strconv.Itoa(n) + "│ " }

// CountLines is how many lines NewText would find.
func CountLines(text string) int {
	n := strings.Count(text, "\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		n++
	}
	return n
}
