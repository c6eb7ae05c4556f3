package rank

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/doc"
)

// names returns what a question names literally: quoted text, numbers and ids, identifiers, paths, and capitalised
// names. Each occurs once, in the question's order, at most doc.MostNames.
func names(question string) []string {
	var names []string
	add := func(name string) {
		if len(name) >= doc.ShortestName && len(name) <= doc.LongestNamed && len(names) < doc.MostNames && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	eachQuoted(question, add)
	eachTitle(question, add)
	for token := range strings.FieldsSeq(question) {
		for _, name := range tokenNames(token) {
			add(name)
		}
	}
	return names
}

// eachQuoted calls add for every text between quotes. An apostrophe inside a word is no quote.
func eachQuoted(text string, add func(string)) {
	for _, pair := range []string{`""`, "``", "''", "“”", "«»"} {
		open, size := utf8.DecodeRuneInString(pair)
		closing, _ := utf8.DecodeRuneInString(pair[size:])
		rest := text
		for {
			at := strings.IndexRune(rest, open)
			if at < 0 {
				break
			}
			starts := at == 0 || !doc.InWord(doc.ByteClass[rest[at-1]])
			rest = rest[at+size:]
			end := strings.IndexRune(rest, closing)
			if end < 0 {
				break
			}
			if !starts || strings.Contains(rest[:end], "\n") {
				continue
			}
			add(strings.TrimSpace(rest[:end]))
			rest = rest[end+utf8.RuneLen(closing):]
		}
	}
}

// eachTitle calls add for every run of capitalised words, such as "Charles Babbage" or "Norway". The first word of a sentence
// may be capitalised for that reason alone: it is no name by itself, and a run without it is added, too.
func eachTitle(text string, add func(string)) {
	var run []string
	starts := true // the next word starts a sentence
	atStart := false
	flush := func() {
		if len(run) > 1 || len(run) == 1 && !atStart {
			add(strings.Join(run, " "))
		}
		if len(run) > 2 && atStart {
			add(strings.Join(run[1:], " "))
		}
		run = nil
	}
	for token := range strings.FieldsSeq(text) {
		word := strings.TrimFunc(token, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
		first, _ := utf8.DecodeRuneInString(word)
		opened := word != "" && !strings.HasPrefix(token, word[:1])
		if !unicode.IsUpper(first) || opened {
			flush()
		}
		if unicode.IsUpper(first) {
			if len(run) == 0 {
				atStart = starts
			}
			if strings.HasSuffix(token, ".") && utf8.RuneCountInString(word) == 1 { // an initial
				word += "."
			}
			run = append(run, word)
		}
		ended := !strings.HasSuffix(token, word) // punctuation
		if ended {
			flush()
		}
		starts = ended && strings.ContainsAny(token[len(token)-1:], ".!?:")
	}
	flush()
}

// tokenNames returns the names in a piece of the question without spaces: all of it if it is shaped like an id, an
// identifier or a path, and the value of key=value.
func tokenNames(token string) []string {
	token = strings.Trim(token, "`\"'“”«».,;:?!()[]{}<>…#*")
	if token == "" || !shapedLikeName(token) {
		return nil
	}
	names := []string{token}
	if _, value, ok := strings.Cut(token, "="); ok && shapedLikeName(value) {
		names = append(names, value)
	}
	return names
}

// shapedLikeName reports whether a piece of a question is no plain word: it has a digit, an underscore, a capital after a
// small letter, or consists of parts joined by dots, slashes or several hyphens.
func shapedLikeName(s string) bool {
	if strings.ContainsAny(s, "0123456789_") {
		return true
	}
	inner := strings.Trim(s, "-./:@")
	if strings.ContainsAny(inner, "./:@") || strings.Count(inner, "-") > 1 {
		return true
	}
	for i := 1; i < len(s); i++ {
		if doc.ByteClass[s[i]] == doc.Upper && doc.ByteClass[s[i-1]] == doc.Lower {
			return true
		}
	}
	return false
}

// FindNamed returns the lines that a question names literally, the rarest name first. A name on more lines than limit names
// its first line only, and one on more than a share of all lines names nothing.
func FindNamed(text, question string, lines int) []int {
	type found struct {
		lines []int
		many  bool
	}
	var all []found
	most := min(max(lines/doc.NamedShare, doc.FewNamed), doc.MostNamed)
	for _, name := range names(question) {
		at := linesWith(text, name, lines/doc.CommonShare+1)
		switch {
		case len(at) == 0 || len(at) > lines/doc.CommonShare:
		case len(at) > most:
			all = append(all, found{at[:1], true})
		default:
			all = append(all, found{at, false})
		}
	}
	slices.SortStableFunc(all, func(a, b found) int { return len(a.lines) - len(b.lines) })
	var out []int
	for _, many := range []bool{false, true} {
		for _, f := range all {
			if f.many == many {
				out = append(out, f.lines...)
			}
		}
	}
	return out
}

// linesWith returns the lines with a name as a whole word, at most most of them.
func linesWith(text, name string, most int) []int {
	var lines []int
	line, from := 0, 0
	for len(lines) < most {
		at := strings.Index(text[from:], name)
		if at < 0 {
			break
		}
		line += strings.Count(text[from:from+at], "\n")
		start, end := from+at, from+at+len(name)
		if whole(text, start, end) {
			lines = append(lines, line)
			next := strings.IndexByte(text[end:], '\n')
			if next < 0 {
				break
			}
			from, line = end+next+1, line+1
			continue
		}
		from = end
	}
	return lines
}

// whole reports whether text[start:end] neither continues a word nor is continued as one.
func whole(text string, start, end int) bool {
	inside := func(a, b byte) bool { return doc.InWord(doc.ByteClass[a]) && doc.InWord(doc.ByteClass[b]) }
	return (start == 0 || !inside(text[start-1], text[start])) && (end == len(text) || !inside(text[end-1], text[end]))
}
