package structure

import (
	"slices"
	"strings"
	"sync"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/doc"
)

// blockEnd returns the end of the block of the failing test that line i names. The block is what is indented deeper, or else
// reaches to the last paragraph with a reason or a place before the next test.
func blockEnd(d *doc.Document, i int) int {
	stop, deep, told, place := i+1, i+1, i+1, false
	for indented, left := true, doc.MaxEntry; left > 0 && stop < len(d.Lines); stop++ {
		line := d.Lines[stop]
		switch {
		case d.Blank(stop), Warns(line), excerpt(line):
			continue
		case endsBlock(line):
			return blockOf(deep, told, place)
		}
		left--
		indented = indented && d.Indent[stop] > d.Indent[i]
		if indented {
			deep = stop + 1
		}
		at := ownPlace(line)
		place = place || at
		if stop >= told && (at || givesReason(line)) { // else the paragraph was seen already
			told = paragraphEnd(d, stop)
		}
	}
	return blockOf(deep, told, place)
}

func blockOf(deep, told int, place bool) int {
	if place {
		return max(deep, told)
	}
	return deep
}

// endsBlock reports whether a line is no part of the failing test above it.
func endsBlock(line string) bool {
	return titleOf(line) != noTitle || harmless(line) || titledRule(line) || SuccessLine(line) || Verdict(line)
}

// paragraphEnd returns the line after the paragraph that contains line i. A warning that another program printed in between
// does not end it.
func paragraphEnd(d *doc.Document, i int) int {
	for i < len(d.Lines) && !d.Blank(i) && !endsBlock(d.Lines[i]) {
		i = afterWarning(d, i)
	}
	return i
}

// afterWarning returns the line after line i, or after all of the warning that begins there.
func afterWarning(d *doc.Document, i int) int {
	next := i + 1
	if !Warns(d.Lines[i]) {
		return next
	}
	for next < len(d.Lines) && !d.Blank(next) && excerpt(d.Lines[next]) {
		next++
	}
	if next > i+1 && next+1 < len(d.Lines) && d.Blank(next) {
		next++
	}
	return next
}

// givesReason reports whether a line says what went wrong.
func givesReason(line string) bool {
	return Signal(line) > doc.WarningSignal && !Warns(line) && !excerpt(line)
}

// Failing returns the end of the part of an entry that names a failing test, says why it failed, and where: up to the first
// place in the user's own code after the reason. ok is false if the entry is no failing test's.
func Failing(d *doc.Document, entry Unit) (end int, ok bool) {
	title, why := d.Lines[entry.Start], givesReason
	kind := titleOf(title)
	if kind == noTitle {
		return 0, false
	}
	if slices.ContainsFunc(d.Lines[entry.Start:entry.End], asserts) { // the lines above are the test's code
		why = asserts
	}
	end = min(entry.End, entry.Start+doc.MaxEntry)
	reason := false
	for i := entry.Start + 1; i < entry.End; i++ {
		reason = reason || why(d.Lines[i])
		if reason && ownPlace(d.Lines[i]) {
			return min(paragraphEnd(d, i), end), true
		}
	}
	return end, kind == sureTitle || reason
}

// foreign are parts of paths that are not the user's own code.
var foreign = sync.OnceValue(func() []string { return doc.ListParts("logs", "foreign") })

// ownPlace reports whether a line names a line of a source file, as main.go:7, Main.java:7, main.ts(7,1), or main.py", line 7,
// which is the user's own and not of what is only warned.
func ownPlace(line string) bool {
	if Warns(line) || excerpt(line) || !namesPlace(line) {
		return false
	}
	return !slices.ContainsFunc(foreign(), func(part string) bool { return strings.Contains(line, part) })
}

func namesPlace(line string) bool {
	line = line[:min(len(line), doc.SignalPrefix)]
	for at := 0; ; at++ {
		dot := strings.IndexByte(line[at:], '.')
		if dot < 0 {
			return false
		}
		at += dot
		end := at + 1
		for end < len(line) && doc.Letter(line[end]) {
			end++
		}
		if numberFollows(line[end:]) && at > 0 && doc.InWord(doc.ByteClass[line[at-1]]) && doc.KindOfFile(line[at-1:end]) == doc.Code {
			return true
		}
	}
}

// numberFollows reports whether a line's number follows a file's name.
func numberFollows(rest string) bool {
	for _, between := range []string{":line ", ":", "(", "\", line ", " line "} {
		if number, ok := strings.CutPrefix(rest, between); ok {
			return number != "" && doc.ByteClass[number[0]] == doc.Digit
		}
	}
	return false
}
