package recovery

import (
	"context"
	"fmt"
	"io"
	"regexp"
	"sort"
	"strconv"
	"strings"
)

// NotFound means that an id is unknown or has expired.
type NotFound struct{ ID string }

func (e *NotFound) Error() string { return "prune_id_not_found: " + e.ID }

// BadRange means that a range contains lines that a text does not have.
type BadRange struct {
	Range   Range
	MaxLine *int // number of the text's last line, if Range begins after it
}

func (e *BadRange) Error() string {
	if e.MaxLine != nil {
		return fmt.Sprintf("invalid_range: line %d is past the end (%d)", e.Range.Start, *e.MaxLine)
	}
	return fmt.Sprintf("invalid_range: %d-%d", e.Range.Start, e.Range.End)
}

// Range is the lines Start to End, both included, counted from 1. An End after the last
// line means the last line.
type Range struct {
	Start int `json:"start_line"`
	End   int `json:"end_line"`
}

// Text is an original with an index of its lines. Only "\n" ends a line; a final "\n"
// starts no further line; "\r" belongs to its line.
type Text struct {
	text  string
	lines int
	marks []mark // the first line, and further lines at short intervals
}

// mark is the offset at which a line begins. Lines count from 1.
type mark struct{ line, at int }

// The distance between marks is large enough that they are small compared with the text
// even if all lines are empty, and small enough that every line is found quickly.
const (
	markLines = 64
	markBytes = 4096
)

// NewText indexes the lines of a text.
func NewText(text string) Text {
	t := Text{text: text, lines: CountLines(text)}
	t.marks = make([]mark, 0, min(t.lines, t.lines/markLines+len(text)/markBytes+1))
	last := mark{}
	for n, at := 1, 0; n <= t.lines; n++ {
		if n == 1 || n-last.line >= markLines || at-last.at >= markBytes {
			last = mark{n, at}
			t.marks = append(t.marks, last)
		}
		_, at = t.lineAt(at)
	}
	return t
}

// String returns the whole original, byte for byte.
func (t Text) String() string { return t.text }

// Len returns the number of lines.
func (t Text) Len() int { return t.lines }

// All returns every line.
func (t Text) All() []string {
	lines := make([]string, t.lines)
	at := 0
	for i := range lines {
		lines[i], at = t.lineAt(at)
	}
	return lines
}

// start returns the byte offset of line n. n may be one past the last line.
func (t Text) start(n int) int {
	if n > t.lines {
		return len(t.text) + 1
	}
	near := t.marks[sort.Search(len(t.marks), func(i int) bool { return t.marks[i].line > n })-1]
	at := near.at
	for range n - near.line {
		_, at = t.lineAt(at)
	}
	return at
}

// lineAt returns the line at an offset, and the offset of the next line.
func (t Text) lineAt(at int) (line string, next int) {
	n := strings.IndexByte(t.text[at:], '\n')
	if n < 0 {
		n = len(t.text) - at
	}
	return t.text[at : at+n], at + n + 1
}

// Page returns the lines of the ranges, in the order of the ranges, joined by "\n", up to about limit bytes (0: no
// limit): as many whole lines as fit, but at least one. If numbered, each follows its number ("12│ "). Lines in two
// ranges are returned twice. One unnumbered range over all lines returns the original byte for byte, including a final
// "\n". No ranges return no lines. rest holds the ranges for the next page, nil at the end. Pages joined by "\n" equal
// the whole, except for a final "\n": see CutsNewline.
func (t Text) Page(asked []Range, numbered bool, limit int) (head string, rest []Range, err error) {
	ranges, err := t.clamp(asked)
	if err != nil {
		return "", nil, err
	}
	if t.whole(ranges) && !numbered && (limit == 0 || len(strings.TrimSuffix(t.text, "\n")) <= limit) {
		return t.text, nil, nil
	}
	p := page{limit: limit}
	if size, _ := t.Size(ranges, numbered); limit == 0 || size < limit {
		p.out.Grow(size)
	}
	t.each(ranges, func(i, n int, line string) bool {
		number := ""
		if numbered {
			number = numberOf(n)
		}
		if !p.add(number, line) {
			rest = append([]Range{{n, ranges[i].End}}, ranges[i+1:]...)
		}
		return rest == nil
	})
	if rest == nil && t.whole(ranges) && !numbered { // a single long line
		return t.text, nil, nil
	}
	return p.out.String(), rest, nil
}

// page collects lines up to a limit.
type page struct {
	out   strings.Builder
	lines int
	limit int // bytes; 0: none
}

// add adds a line if it fits. The first line always does.
func (p *page) add(number, line string) bool {
	if p.lines > 0 {
		if p.limit > 0 && p.out.Len()+1+len(number)+len(line) > p.limit {
			return false
		}
		p.out.WriteByte('\n')
	}
	p.out.WriteString(number)
	p.out.WriteString(line)
	p.lines++
	return true
}

// each calls visit for each line of clamped ranges, with the index i of the range and the
// line number n, until visit returns false.
func (t Text) each(ranges []Range, visit func(i, n int, line string) bool) {
	for i, r := range ranges {
		line, at := "", t.start(r.Start)
		for n := r.Start; n <= r.End; n++ {
			if line, at = t.lineAt(at); !visit(i, n, line) {
				return
			}
		}
	}
}

// whole reports whether clamped ranges cover every line exactly once, in a single range.
func (t Text) whole(ranges []Range) bool {
	return len(ranges) == 1 && ranges[0] == (Range{1, t.Len()})
}

// CutsNewline reports whether the last unnumbered page of the ranges ends with the text's
// last line but without the "\n" after it.
func (t Text) CutsNewline(asked []Range) bool {
	ranges, err := t.clamp(asked)
	if err != nil || len(ranges) == 0 || !strings.HasSuffix(t.text, "\n") {
		return false
	}
	return ranges[len(ranges)-1].End == t.Len() && !t.whole(ranges)
}

// Size returns the number of bytes that Page would return without a limit, plus one: it counts a newline
// after each line. It reads no line.
func (t Text) Size(ranges []Range, numbered bool) (int, error) {
	ranges, err := t.clamp(ranges)
	if err != nil {
		return 0, err
	}
	size := 0
	for _, r := range ranges {
		size += t.start(r.End+1) - t.start(r.Start)
		if numbered {
			size += digitsUpTo(r.End) - digitsUpTo(r.Start-1) + (r.End-r.Start+1)*len(numberMark)
		}
	}
	return size, nil
}

// digitsUpTo returns the total number of digits of the numbers 1 to n.
func digitsUpTo(n int) int {
	sum := 0
	for low := 1; low <= n; low *= 10 {
		sum += n - low + 1
	}
	return sum
}

// scanStep is roughly the number of bytes searched between two checks of the context: about
// ten milliseconds with a slow expression.
const scanStep = 16 << 10

// Matching returns the lines within the ranges (none: all lines) that re matches, each
// after its number, up to about limit bytes (0: no limit). A line is matched without its
// "\r". rest holds the ranges for the next page, nil at the end. The error is ctx's if ctx
// ends.
func (t Text) Matching(ctx context.Context, re *regexp.Regexp, ranges []Range, limit int) (lines string, count int, rest []Range, err error) {
	if len(ranges) == 0 && t.Len() > 0 {
		ranges = []Range{{1, t.Len()}}
	}
	if ranges, err = t.clamp(ranges); err != nil {
		return "", 0, nil, err
	}
	p, scanned := page{limit: limit}, 0
	t.each(ranges, func(i, n int, line string) bool {
		found := matches(ctx, re, strings.TrimSuffix(line, "\r"))
		if scanned += len(line) + 1; scanned > scanStep {
			if scanned, err = 0, ctx.Err(); err != nil {
				return false
			}
		}
		if found && !p.add(numberOf(n), line) {
			rest = append([]Range{{n, ranges[i].End}}, ranges[i+1:]...)
		}
		return rest == nil
	})
	return p.out.String(), p.lines, rest, err
}

// matches searches one line. In a long line, it stops when ctx ends; that check makes the
// search slower.
func matches(ctx context.Context, re *regexp.Regexp, line string) bool {
	if len(line) <= scanStep {
		return re.MatchString(line)
	}
	return re.MatchReader(&runes{Reader: strings.NewReader(line), ctx: ctx})
}

// runes reads the characters of a line until ctx ends.
type runes struct {
	*strings.Reader
	ctx  context.Context
	read int
}

func (r *runes) ReadRune() (c rune, size int, err error) {
	if r.read++; r.read%1024 == 0 && r.ctx.Err() != nil {
		return 0, 0, io.EOF
	}
	return r.Reader.ReadRune()
}

// clamp validates every range and ends it at the last line.
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

const numberMark = "│ "

// numberOf returns the prefix of a numbered line.
func numberOf(n int) string { return strconv.Itoa(n) + numberMark }

// CountLines returns the number of lines that NewText would find.
func CountLines(text string) int {
	n := strings.Count(text, "\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		n++
	}
	return n
}
