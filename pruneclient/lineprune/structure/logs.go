package structure

import (
	"strconv"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/doc"
)

// Logs makes a unit of every entry with its continuation lines: a traceback with its frames and message,
// a test's run with its output and verdict, a compiler's message with its source excerpt.
func Logs(d *doc.Document) Outline {
	o := Outline{Of: make([]int32, len(d.Lines)), Units: make([]Unit, 0, len(d.Lines))}
	var state entry
	for i, line := range d.Lines {
		if i == 0 || !state.continues(d, i, line) {
			if n := len(o.Units); n > 0 {
				o.Units[n-1].End = i
			}
			o.Units = append(o.Units, Unit{Start: i, End: len(d.Lines), Head: i, Parent: -1})
			state = entry{kind: entryKind(line, d.Next(i)), indent: d.Indent[i]}
			if state.kind == failingTest {
				state.end = blockEnd(d, i)
			}
		}
		o.Of[i] = int32(len(o.Units) - 1)
	}
	return o
}

// Kinds of log entries, by how they end.
const (
	plainEntry  = iota // ends at the next line that is not indented deeper
	goRunEntry         // === RUN, ends after the test's --- line
	panicEntry         // ends after the goroutines' frames
	traceback          // ends after the exception's message
	framed             // ends at the next rule of ==== or ____
	paragraph          // ends at a blank line
	failingTest        // the block of a test that its first line names
	warned             // a compiler's warning, ends after its excerpt
	blankEntry         // a blank line between entries
)

// entry is the log entry that contains the current line.
type entry struct {
	kind   int
	indent int16
	done   bool // the next line opens another entry
	lines  int
	frames int // number of numbered frames seen, such as "#0 main()"
	end    int // line after a failing test's block
}

func entryKind(line, next string) int {
	t := line[doc.FirstVisible(line):]
	if t == "" || doc.ByteClass[t[0]] == doc.Space {
		return blankEntry
	}
	switch {
	case Warns(line):
		return warned
	case t[0] != '_' && titleOf(line) != noTitle:
		return failingTest
	}
	switch t[0] { // the first byte identifies most lines
	case '=':
		return equalsEntry(line, next)
	case '_':
		if titledRule(line) {
			return framed
		}
	case 'p', 'f', 'g':
		return startsEntry(line, panicEntry, "panic:", "fatal error:", "goroutine ")
	case 'T':
		if strings.HasPrefix(line, "TASK [") {
			return paragraph
		}
		return startsEntry(t, traceback, "Traceback (most recent call last)")
	case 'e':
		return startsEntry(line, paragraph, "error[", "error:")
	}
	return plainEntry
}

// startsEntry returns kind if line starts with one of the prefixes, else plainEntry.
func startsEntry(line string, kind int, prefixes ...string) int {
	if beginsWith(line, prefixes) {
		return kind
	}
	return plainEntry
}

// equalsEntry distinguishes a rule of "=" above a single failure from a decorative rule, and from a pytest
// section heading such as "==== FAILURES ====".
func equalsEntry(line, next string) int {
	if len(line) >= 20 && strings.HasPrefix(line, "=====") {
		if titledRule(line) || Signal(next) <= doc.WarningSignal {
			return plainEntry
		}
		return framed
	}
	return startsEntry(line, goRunEntry, "=== RUN", "=== CONT", "=== NAME")
}

// continues reports whether line i belongs to the entry of the lines above it.
func (e *entry) continues(d *doc.Document, i int, line string) bool {
	e.lines++
	switch {
	case e.done, e.lines > doc.MaxEntry && e.kind != framed && e.kind != failingTest:
		return false
	case e.kind == warned && titleOf(line) != noTitle, (e.kind == plainEntry || e.kind == paragraph) && FailingTest(line):
		return false
	}
	switch e.kind {
	case goRunEntry:
		if strings.HasPrefix(line, "=== ") {
			return false
		}
		e.done = strings.HasPrefix(strings.TrimSpace(line), "--- ")
		return true
	case panicEntry:
		return d.Blank(i) || d.Indent[i] > 0 || strings.HasPrefix(line, "goroutine ") || strings.HasPrefix(line, "created by") ||
			strings.HasPrefix(line, "[signal") || strings.HasPrefix(line, "panic:") || strings.HasSuffix(line, ")")
	case traceback:
		if d.Blank(i) {
			return false
		}
		e.done = d.Indent[i] <= e.indent && !strings.HasPrefix(d.Next(i), " ")
		return true
	case framed:
		return !strings.HasPrefix(line, "=====") && !(strings.HasPrefix(line, "_____") && titledRule(line)) && !strings.HasPrefix(line, "Ran ")
	case paragraph:
		return !d.Blank(i)
	case failingTest:
		return i < e.end
	case blankEntry:
		return d.Blank(i)
	case warned:
		if !d.Blank(i) && excerpt(line) {
			return true
		}
	}
	return !d.Blank(i) && d.Indent[i] > e.indent || e.frame(line) || continuation(line)
}

// continuation reports whether a line is one of the excerpts or frames that tools print without
// indentation.
func continuation(line string) bool {
	return strings.HasPrefix(line, "\tat ") || strings.HasPrefix(line, "Caused by:") || strings.HasPrefix(line, "Stack trace:")
}

// frame reports whether a line is the entry's next numbered frame, as PHP and gdb print them.
func (e *entry) frame(line string) bool {
	if line == "" || line[0] != '#' {
		return false
	}
	number, _, _ := strings.Cut(line[1:], " ")
	if number != strconv.Itoa(e.frames) {
		return false
	}
	e.frames++
	return true
}

// Wordless reports whether a line only points into the one above it with carets and rules. Without that
// line it has no meaning.
func Wordless(line string) bool {
	for i := 0; i < len(line); i++ {
		if doc.Letter(line[i]) || doc.ByteClass[line[i]] == doc.HighByte {
			return false
		}
	}
	return true
}

// PointsAt reports whether a line gives the location of the message above it, as rustc prints it.
func PointsAt(line string) bool { return strings.HasPrefix(line[doc.FirstVisible(line):], "--> ") }
