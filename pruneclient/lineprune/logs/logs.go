// Package logs reads logs: entries, signs of trouble, statements that print many lines, and what
// other programs put in front of each line.
package logs

import (
	"strconv"
	"strings"

	"mcp-pruner/pruneclient/lineprune/doc"
	"mcp-pruner/pruneclient/lineprune/structure"
	"mcp-pruner/pruneclient/lineprune/tuning"
	"mcp-pruner/pruneclient/lineprune/words"
)

// Outline makes a unit of every entry with what continues it: a traceback with
// its frames and message, a test's run with its output and verdict, a compiler's
// message with its excerpt.
func Outline(d *doc.Document) structure.Outline {
	o := structure.Outline{Of: make([]int32, len(d.Lines)), Units: make([]structure.Unit, 0, len(d.Lines))}
	var state entry
	for i, line := range d.Lines {
		if i == 0 || !state.continues(d, i, line) {
			if n := len(o.Units); n > 0 {
				o.Units[n-1].End = i
			}
			o.Units = append(o.Units, structure.Unit{Start: i, End: len(d.Lines), Head: i, Parent: -1})
			state = entry{kind: entryKind(line, d.Next(i)), indent: d.Indent[i]}
		}
		o.Of[i] = int32(len(o.Units) - 1)
	}
	return o
}

// Kinds of a log's entries, by what ends them.
const (
	plainEntry    = iota // ends at the next line that is not indented deeper
	goRun                // === RUN, ends after its --- line
	panicEntry           // ends where the goroutines' frames do
	traceback            // ends after the exception's message
	framed               // ends at the next rule of ==== or ____
	paragraph            // ends at a blank line
	numberedEntry        // "  1) name", ends at the next one, whatever the indentation
	bulletEntry          // "  ● name", ends at the next line that is not indented deeper, whatever is blank
	blankEntry           // a blank line between entries
)

// entry is the log entry the lines are in.
type entry struct {
	kind   int
	indent int16
	done   bool // the next line opens another entry
	lines  int
	frames int // numbered frames seen, as "#0 main()"
}

func entryKind(line, next string) int {
	t := line[words.FirstVisible(line):]
	if t == "" || words.Class[t[0]] == words.Space {
		return blankEntry
	}
	switch t[0] { // most lines are told by their first byte
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
	case 'e', 'w':
		return startsEntry(line, paragraph, "error[", "error:", "warning:")
	}
	switch {
	case words.Class[t[0]] == words.Digit && Numbered(t):
		return numberedEntry
	case words.Class[t[0]] == words.High && strings.HasPrefix(t, "● "):
		return bulletEntry
	}
	return plainEntry
}

// startsEntry is kind when the line begins with one of the prefixes.
func startsEntry(line string, kind int, prefixes ...string) int {
	for _, p := range prefixes {
		if strings.HasPrefix(line, p) {
			return kind
		}
	}
	return plainEntry
}

// equalsEntry tells a rule above one failure from one that only decorates, and from
// pytest's "==== FAILURES ====", which is the heading of all that follows.
func equalsEntry(line, next string) int {
	if len(line) >= 20 && strings.HasPrefix(line, "=====") {
		if titledRule(line) || Signal(next) <= tuning.WarningSignal {
			return plainEntry
		}
		return framed
	}
	return startsEntry(line, goRun, "=== RUN", "=== CONT", "=== NAME")
}

// Numbered is true of "3) name", as test runners number failures.
func Numbered(t string) bool {
	i := 0
	for i < len(t) && i < 4 && words.Class[t[i]] == words.Digit {
		i++
	}
	return i > 0 && strings.HasPrefix(t[i:], ") ")
}

// continues says whether line i belongs to the entry of the lines above it.
func (e *entry) continues(d *doc.Document, i int, line string) bool {
	e.lines++
	if e.done || e.lines > tuning.MaxEntry && e.kind != framed {
		return false
	}
	switch e.kind {
	case goRun:
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
	case numberedEntry:
		return !Numbered(strings.TrimSpace(line)) && !strings.HasPrefix(line, "Finished in ")
	case bulletEntry:
		return d.Blank(i) || d.Indent[i] > e.indent
	case blankEntry:
		return d.Blank(i)
	}
	return !d.Blank(i) && d.Indent[i] > e.indent || e.frame(line) || continuation(line)
}

// continuation is true of the excerpts and frames tools print flush left.
func continuation(line string) bool {
	return strings.HasPrefix(line, "\tat ") || strings.HasPrefix(line, "Caused by:") || strings.HasPrefix(line, "Stack trace:")
}

// frame is true of the entry's next numbered frame, as PHP and gdb print them.
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

// Wordless is true of the lines that point into the one above them with carets and
// rules: without it they say nothing.
func Wordless(line string) bool {
	for i := 0; i < len(line); i++ {
		if words.Letter(line[i]) || words.Class[line[i]] == words.High {
			return false
		}
	}
	return true
}

// PointsAt is true of the line that says where the message above it belongs, as rustc
// prints it.
func PointsAt(line string) bool { return strings.HasPrefix(line[words.FirstVisible(line):], "--> ") }
