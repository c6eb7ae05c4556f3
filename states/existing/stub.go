package existing

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"unicode"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history"
)

// MaxStub is the size in tokens of the longest stub, if the way back begins with the program's name.
const MaxStub = 40

// subjectTokens is the number of tokens that a stub may spend on tool, file and command, if the way back is as short as that.
const subjectTokens = 12

// Stub returns the text that replaces a cleared result: the tool, what it was about, the number of lines, and what prints
// them.
func Stub(tool, subject string, lines int, way string) string {
	number := strconv.Itoa(lines)
	room := subjectTokens - max(0, atMost(way)-atMost(ExampleWay)) - (len(number)-1)/3
	what := fit(clean(tool), room/2, false)
	if subject = clean(subject); subject != "" {
		isPath := strings.ContainsAny(subject, `/\`) && !strings.Contains(subject, " ")
		if subject = fit(subject, room-atMost(what)-1, isPath); subject != "" {
			what += " " + subject
		}
	}
	if what = strings.TrimSpace(what); what == "" {
		what = "result"
	}
	unit := "lines"
	if lines == 1 {
		unit = "line"
	}
	return fmt.Sprintf(stubStart+"%s: %s %s; `%s` prints them]", what, number, unit, way)
}

const stubStart = "[cleared "

// IsStub tells a stub from the text of a result that was pruned.
func IsStub(text string) bool { return strings.HasPrefix(text, stubStart) }

// StubOf returns the stub of a call's result.
func StubOf(call history.ToolCall, args map[string]any, text, way string) string {
	return Stub(call.Tool, subjectOf(call, args), strings.Count(strings.TrimSuffix(text, "\n"), "\n")+1, way)
}

// subjectOf returns what a call was about.
func subjectOf(call history.ToolCall, args map[string]any) string {
	for _, s := range []string{call.File, call.Command, call.Pattern, call.Path} {
		if s != "" {
			return s
		}
	}
	for _, name := range []string{"file_path", "path", "url", "query", "pattern", "command", "cmd", "description", "prompt"} {
		if s, ok := args[name].(string); ok && s != "" {
			return s
		}
	}
	return ""
}

// clean returns the first line of a text without what could end the stub, or look like the end of one.
func clean(text string) string {
	text, _, _ = strings.Cut(strings.TrimSpace(text), "\n")
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsControl(r), r == unicode.ReplacementChar, strings.ContainsRune("[]`", r):
			return -1
		case unicode.IsSpace(r):
			return ' '
		}
		return r
	}, text)
}

// fit shortens a text to a number of tokens: a path at its beginning, so that its last names stay, anything else at its end.
func fit(text string, tokens int, path bool) string {
	if atMost(text) <= tokens {
		return text
	}
	if path {
		for i := range text {
			if (text[i] == '/' || text[i] == filepath.Separator) && 1+atMost(text[i:]) <= tokens {
				return shortened + text[i:]
			}
		}
	}
	end := 0
	for i := range text {
		if atMost(text[:i]+shortened) <= tokens {
			end = i
		}
	}
	if end == 0 {
		return ""
	}
	return strings.TrimRight(text[:end], " ") + shortened
}

// atMost returns a number of tokens that a text does not exceed, whatever is in it. For real names and commands it is up to
// twice their size; an estimate would be nearer, but too low for random letters.
func atMost(text string) int {
	text, marked := strings.CutSuffix(text, shortened)
	total, word := 0, ""
	flush := func() { total += wordAtMost(word); word = "" }
	var before rune
	for _, r := range text {
		switch {
		case r >= 'a' && r <= 'z':
			word += string(r)
		case r >= 'A' && r <= 'Z':
			if before >= 'a' && before <= 'z' {
				flush()
			}
			word += string(r + 'a' - 'A')
		case r == ' ' && before != ' ':
			flush() // it is one token with the word after it
		default:
			flush()
			total += len(string(r))
		}
		before = r
	}
	flush()
	if marked {
		total += 2
	}
	return total
}

// shortened marks what was left out of a subject.
const shortened = "..."

// wordAtMost is atMost for a word. One that can be pronounced has three letters a token, any other three for two tokens.
func wordAtMost(word string) int {
	consonants := 0
	for _, r := range word {
		consonants++
		if strings.ContainsRune("qxzj", r) {
			consonants++
		}
		if strings.ContainsRune("aeiouy", r) {
			consonants = 0
		}
		if consonants > 2 {
			return (2*len(word) + 2) / 3
		}
	}
	return (len(word) + 2) / 3
}
