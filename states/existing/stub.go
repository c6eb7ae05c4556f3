package existing

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history"
	"github.com/mcp-pruner/mcp-pruner/tools/terminal"
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
	unit := terminal.Plural(lines, "line", "lines")
	if way == Again {
		return fmt.Sprintf(stubStart+"%s: %s %s; read the file again to see them]", what, number, unit)
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

// fit shortens a text to a number of tokens: a path at its beginning, so that its last names stay, anything else at its end. It
// returns "" where too little would stay to say anything.
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
		return "" // its beginning says nothing
	}
	end := 0
	var b bound
	for i, r := range text {
		if b.tokens()+shortenedTokens > tokens {
			break // a longer beginning never has fewer
		}
		end = i
		b.add(r)
	}
	if end < fewestLetters {
		return ""
	}
	return strings.TrimRight(text[:end], " ") + shortened
}

// atMost returns a number of tokens that a text does not exceed, whatever is in it. For real names and commands it is up to
// twice their size; an estimate would be nearer, but too low for random letters.
func atMost(text string) int {
	text, marked := strings.CutSuffix(text, shortened)
	var b bound
	for _, r := range text {
		b.add(r)
	}
	if marked {
		return b.tokens() + shortenedTokens
	}
	return b.tokens()
}

// bound computes atMost rune by rune.
type bound struct {
	total      int // of what is before the last word
	letters    int // of the last word
	consonants int // at its end, those counted twice that are rare
	hard       bool
	before     rune
}

func (b *bound) add(r rune) {
	switch {
	case r >= 'a' && r <= 'z':
		b.letter(r)
	case r >= 'A' && r <= 'Z':
		if b.before >= 'a' && b.before <= 'z' {
			b.endWord()
		}
		b.letter(r + 'a' - 'A')
	case r == ' ' && b.before != ' ':
		b.endWord() // it is one token with the word after it
	default:
		b.endWord()
		b.total += utf8.RuneLen(r)
	}
	b.before = r
}

func (b *bound) letter(r rune) {
	b.letters++
	switch r {
	case 'a', 'e', 'i', 'o', 'u', 'y':
		b.consonants = 0
		return
	case 'q', 'x', 'z', 'j':
		b.consonants++
	}
	b.consonants++
	b.hard = b.hard || b.consonants > 2
}

func (b *bound) endWord() { *b = bound{total: b.tokens()} }

// tokens is the bound of what has been added. A word that can be pronounced has three letters a token, any other three for two.
func (b *bound) tokens() int {
	if b.hard {
		return b.total + (2*b.letters+2)/3
	}
	return b.total + (b.letters+2)/3
}

// shortened marks what was left out of a subject.
const (
	shortened       = "..."
	shortenedTokens = 2
	fewestLetters   = 5 // of a subject that says something: not "cd..."
)
