package existing

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune"
)

// Claude Code numbers the lines of a Read itself, from one starting point, so that only one range of a pruned file can
// stay the result. The other kept lines go into a note, with numbers added here.
const (
	// MaxNote is the length, in UTF-16 units, of the longest note that Claude Code shows whole. Of a longer one its
	// model sees a preview of 2 kB.
	MaxNote = 10_000

	noteFrame = 1_200 // the part of MaxNote for the header, which has the path of a program, and for the list of what is left out
	maxLeft   = 12    // ranges that are listed one by one
	maxPiece  = 40    // lines of a window that are put into the note together or not at all
	nearby    = 12    // a window at most so many lines away becomes part of the main one
	bestLines = 5     // lines of a window that count for its relevance
	leastMain = 12    // lines of the main window; a shorter one is extended on both sides
)

// noted divides a cut between result and note. The result is the most relevant window, together with the windows near
// it. The note takes the others in the order of their relevance until it is full; Kept has only lines that
// are shown.
func noted(b Body, c Cut, scores []float64) Cut {
	windows := c.Windows()
	if len(windows) == 0 {
		return c
	}
	relevance := relevanceBy(scores)
	best := 0
	for i, w := range windows {
		if relevance(w) > relevance(windows[best]) {
			best = i
		}
	}
	c.Main, windows = mainWindow(windows, best, c.Total)
	c.Kept, c.Left = nil, nil
	for n := c.Main.From; n <= c.Main.To; n++ {
		c.Kept = append(c.Kept, n)
	}
	pieces := piecesOf(windows)
	slices.SortStableFunc(pieces, func(a, b Window) int {
		return cmp.Compare(relevance(b), relevance(a))
	})
	room := MaxNote - noteFrame
	for _, w := range pieces {
		if need := noteUnits(b, w); need > room {
			c.Left = append(c.Left, w)
		} else {
			room -= need
			for n := w.From; n <= w.To; n++ {
				c.Kept = append(c.Kept, n)
			}
		}
	}
	slices.Sort(c.Kept)
	c.Left = joined(c.Left)
	return c
}

// relevanceBy returns a measure of a window's relevance: the sum over its best lines, in which a line counts half as
// much for each bit that its score is below the best one. So a window does not win by its length alone, nor by a single
// line. In recorded sessions it contains a line that was used later more often than the longest window does, and than
// the window with the best line.
func relevanceBy(scores []float64) func(Window) float64 {
	best := slices.Max(scores)
	return func(w Window) float64 {
		list := slices.Sorted(slices.Values(scores[w.From-1 : w.To]))
		sum := 0.0
		for _, score := range list[max(len(list)-bestLines, 0):] {
			sum += math.Exp2(score - best)
		}
		return sum
	}
}

// mainWindow extends a window to the ones near it and to at least leastMain lines of the text. It returns the window
// and the others, without what the window now includes.
func mainWindow(windows []Window, at, total int) (Window, []Window) {
	first, last := at, at
	for first > 0 && windows[first].From-windows[first-1].To-1 <= nearby {
		first--
	}
	for last < len(windows)-1 && windows[last+1].From-windows[last].To-1 <= nearby {
		last++
	}
	main := Window{windows[first].From, windows[last].To}
	if missing := leastMain - (main.To - main.From + 1); missing > 0 {
		main.From = max(main.From-missing/2, 1)
		main.To = min(main.From+leastMain-1, total)
		main.From = max(min(main.From, main.To-leastMain+1), 1)
	}
	var others []Window
	for _, w := range slices.Concat(windows[:first], windows[last+1:]) {
		switch {
		case w.To < main.From || w.From > main.To:
			others = append(others, w)
		case w.From < main.From:
			others = append(others, Window{w.From, main.From - 1})
		case w.To > main.To:
			others = append(others, Window{main.To + 1, w.To})
		}
	}
	return main, others
}

// piecesOf divides windows into pieces of at most maxPiece lines.
func piecesOf(windows []Window) []Window {
	var out []Window
	for _, w := range windows {
		for ; w.To-w.From >= maxPiece; w.From += maxPiece {
			out = append(out, Window{w.From, w.From + maxPiece - 1})
		}
		out = append(out, w)
	}
	return out
}

// joined sorts windows and joins those that touch.
func joined(windows []Window) []Window {
	slices.SortFunc(windows, func(a, b Window) int { return a.From - b.From })
	var out []Window
	for _, w := range windows {
		if len(out) > 0 && out[len(out)-1].To == w.From-1 {
			out[len(out)-1].To = w.To
			continue
		}
		out = append(out, w)
	}
	return out
}

// units returns the length of a text in UTF-16 units, as JavaScript counts it.
func units(text string) int {
	n := 0
	for _, r := range text {
		n += max(utf16.RuneLen(r), 1)
	}
	return n
}

// noteUnits returns the length of a window in the note, with the line breaks and the mark of the gap after it.
func noteUnits(b Body, w Window) int {
	n := len("\n...")
	for i := w.From; i <= w.To; i++ {
		n += len(strconv.Itoa(b.First+i-1)) + units(b.Lines[i-1]) + len("\n\t")
	}
	return n
}

// Split returns the range of lines that the client numbers, and the note with the header, the other kept lines and the
// ranges that the note has no room for. Every number that the model sees is the line's own. A gap is named as far as the
// note has room.
func Split(b Body, c Cut, way string) (main Window, note string) {
	head := headLine(c, way)
	if len(c.Left) > 0 {
		head += "\n[relevant too, but too long for this note: lines " + b.ranges(c.Left) + "]"
	}
	plain := head + b.beside(c, 0)
	return c.Main, head + b.beside(c, MaxNote-units(plain))
}

// beside returns the kept lines outside of the main window, and the marks of gaps, whose names may take the given number of
// units.
func (b Body) beside(c Cut, room int) string {
	var out strings.Builder
	next, open := 1, false // the first line after the last window; whether lines were written after the last mark
	mark := func(to int) {
		text := "..."
		if named := b.named(c, next, to); named != "" && units(named) < room {
			room -= units(named) + len("\n")
			text, open = named, true
		}
		if open {
			out.WriteString("\n" + text)
		}
		open = false
	}
	lines := func(from, to int) {
		for n := from; n <= to; n++ {
			fmt.Fprintf(&out, "\n%d\t%s", b.First+n-1, b.Lines[n-1])
			open = true
		}
	}
	for _, w := range c.Windows() {
		mark(w.From - 1)
		from := w.From
		if w.From <= c.Main.To && w.To >= c.Main.From { // the main window and what adjoins it
			lines(w.From, c.Main.From-1)
			if open {
				out.WriteString("\n...")
				open = false
			}
			from = c.Main.To + 1
		}
		lines(from, w.To)
		next = w.To + 1
	}
	mark(c.Total)
	return out.String()
}

// named returns the mark of a gap with what begins in it, or "" if nothing does. It has the range of lines, because the main
// window may stand before or after the gap.
func (b Body) named(c Cut, from, to int) string {
	if to < from {
		return ""
	}
	block := c.omitted(b, from, to)
	if block.Place = lineprune.Free; len(block.Openings) == 0 {
		return ""
	}
	return lineprune.Gap(block, b.First)
}

// ranges lists windows by the client's line numbers.
func (b Body) ranges(windows []Window) string {
	var list []string
	for i, w := range windows {
		if i == maxLeft {
			list = append(list, fmt.Sprintf("and %d more ranges up to %d", len(windows)-i, b.First+windows[len(windows)-1].To-1))
			break
		}
		if w.From == w.To {
			list = append(list, strconv.Itoa(b.First+w.From-1))
			continue
		}
		list = append(list, fmt.Sprintf("%d-%d", b.First+w.From-1, b.First+w.To-1))
	}
	return strings.Join(list, ", ")
}

// NoteFits reports whether the client shows a note whole.
func NoteFits(note string) bool { return units(note) <= MaxNote }

// NoteFrame returns the text that Claude Code puts around a hook's additional context.
func NoteFrame(tool, note string) string {
	return "<system-reminder>\nPostToolUse:" + tool + noteHead + note + "\n</system-reminder>"
}

const noteHead = " hook additional context: "

// IsNote reports whether a text is the note of a pruned read in that frame. It stands beside the results and does not say of which.
func IsNote(text string) bool {
	_, note, framed := strings.Cut(text, "PostToolUse:Read"+noteHead)
	return framed && IsCut(note)
}

// Sent returns the text that a client's model is sent in place of a result. noted is Result.Noted.
func Sent(b Body, c Cut, noted bool, way string) string {
	if noted {
		return ClaudeRead(b, c, way)
	}
	return Text(b, c, way)
}

// ClaudeRead returns the text that Claude's model is sent for a split read.
func ClaudeRead(b Body, c Cut, way string) string {
	main, note := Split(b, c, way)
	lines := make([]string, 0, main.To-main.From+1)
	for n := main.From; n <= main.To && n > 0; n++ {
		lines = append(lines, b.Line(n))
	}
	return strings.Join(lines, "\n") + "\n" + NoteFrame("Read", note) + b.Tail
}
