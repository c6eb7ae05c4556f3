// Package terminal reads what programs write for a terminal: control sequences, and lines that they overwrite to show
// their progress. It also has the words for numbers and lists that people read. It imports nothing of this project.
package terminal

import (
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Escape is the byte with which control sequences begin.
const Escape = 0x1b

// WithoutEscapes removes colours and other ECMA-48 control sequences, and the targets of hyperlinks (OSC 8).
func WithoutEscapes(line string) string {
	var b strings.Builder
	for {
		at := strings.IndexByte(line, Escape)
		if at < 0 {
			b.WriteString(line)
			return b.String()
		}
		b.WriteString(line[:at])
		line = line[at+escapeEnd(line[at:]):]
	}
}

// escapeEnd returns the offset after the escape sequence at the start of line.
func escapeEnd(line string) int {
	switch {
	case len(line) < 2:
		return len(line)
	case line[1] == '[': // CSI: parameters, then a final letter
		i := 2
		for i < len(line) && line[i] >= ' ' && line[i] < '@' {
			i++
		}
		return min(i+1, len(line))
	case line[1] == ']': // OSC: ends with BEL or ESC \
		if i := strings.IndexAny(line[2:], "\a\x1b"); i < 0 {
			return len(line)
		} else if line[i+2] == '\a' {
			return i + 3
		} else {
			return min(i+4, len(line))
		}
	}
	return 2
}

// LeastSaved is the number of bytes of overwritten states for which an output is worth shortening.
const LeastSaved = 200

// LastStates shortens the lines of text that a program overwrote, such as the bar of a download, to their last state. The
// number of lines stays, and so do the ends of lines, with or without a carriage return. A line whose parts between
// carriage returns are not states of one line stays as it is, such as a text with the line ends of classic Mac OS. It
// returns text itself if no line is shortened.
func LastStates(text string) string {
	if !strings.Contains(text, "\r") && !strings.Contains(text, "\x1b[") {
		return text
	}
	lines, changed := strings.Split(text, "\n"), false
	for i, line := range lines {
		if last := lastState(line); last != line {
			lines[i], changed = last, true
		}
	}
	if !changed {
		return text
	}
	return strings.Join(lines, "\n")
}

var (
	// toStart matches what moves the cursor to the first column.
	toStart = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\r|\x1b\[[01]?G`) })
	// erase matches what erases the line or a part of it.
	erase = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\x1b\[[0-2]?K`) })
)

func lastState(line string) string {
	body, returned := strings.CutSuffix(line, "\r") // the carriage return of CRLF
	if strings.IndexByte(body, '\r') < 0 && strings.IndexByte(body, Escape) < 0 {
		return line
	}
	var states []string
	for _, state := range toStart().Split(body, -1) {
		if state = erase().ReplaceAllString(state, ""); strings.TrimSpace(WithoutEscapes(state)) != "" {
			states = append(states, state)
		}
	}
	if len(states) < 2 || !erase().MatchString(body) && !alike(states) {
		return line
	}
	last := states[len(states)-1]
	if returned {
		last += "\r"
	}
	return last
}

// alike reports whether most states begin like the one before, numbers and the characters of bars apart.
func alike(states []string) bool {
	same := 0
	for i := 1; i < len(states); i++ {
		if begin := start(states[i]); begin == start(states[i-1]) && (begin != "" || counts(states[i])) {
			same++
		}
	}
	return 2*same >= len(states)-1
}

// counts reports whether a state without letters is a percentage, a time or a spinner. The rows of a table are not.
func counts(state string) bool {
	const spinner = 4
	return strings.ContainsAny(state, "%:") || utf8.RuneCountInString(strings.TrimSpace(WithoutEscapes(state))) <= spinner
}

// start returns the first letters of a state up to the first space after them. It is empty for a state without letters,
// such as a spinner or a bare percentage.
func start(state string) string {
	const longest = 12
	state = strings.TrimLeftFunc(WithoutEscapes(state), func(r rune) bool { return !unicode.IsLetter(r) })
	end := strings.IndexFunc(state, func(r rune) bool { return !unicode.IsLetter(r) })
	if end < 0 {
		end = len(state)
	}
	return state[:min(end, longest)]
}
