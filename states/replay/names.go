package replay

import (
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history"
)

// Bounds of the rules about short names.
const (
	maxPlaces   = 16 // of a name; one that stands in more places is hardly missed
	maxNamed    = 80 // bytes of an argument that is a name
	minTitle    = 8
	commandName = 5 // digits of a number in a command that may be a record's
	wordsName   = 3 // digits of a number in the agent's words
)

// name is an identifier, a short id, a number with a key or a title, and everywhere that the context shows it.
type name struct {
	places []lineAt // at most maxPlaces+1, latest last
	known  bool     // the agent or the user has written it
	record bool     // a result shows it that is no file, search or command
}

// names holds them in two indexes: compound identifiers for the wide rule, and short names.
type names struct{ wide, short map[string]*name }

func newNames() names { return names{map[string]*name{}, map[string]*name{}} }

func (n *name) shownAt(t *shownText, line int) {
	if len(n.places) > maxPlaces || len(n.places) > 0 && n.places[len(n.places)-1] == (lineAt{text: t, line: line}) {
		return
	}
	n.places = append(n.places, lineAt{text: t, line: line})
}

func entry(index map[string]*name, key string) *name {
	n := index[key]
	if n == nil {
		n = &name{}
		index[key] = n
	}
	return n
}

// index notes the names on a line of a result.
func (g *goldFinder) index(t *shownText, i int, line string, identifiers []string, kind history.Kind) {
	for _, id := range identifiers {
		entry(g.names.wide, id).shownAt(t, i)
	}
	for _, key := range shortNames(line, kind) {
		n := entry(g.names.short, key)
		n.record = n.record || kind == history.Other
		n.shownAt(t, i)
	}
}

// keyed is a value with a digit behind a key, such as uid=45_181 or "number": 225, and #17.
var keyed = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\b[A-Za-z_][\w-]{0,30}"?\s*[=:]\s*"?(@?[\w./-]*\d[\w./-]*)|#(\d{2,7})\b`)
})

// title is a text in double quotes.
var title = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`"([^"\n]+)"`) })

// shortNames lists the ids and numbers on a line of a result, and the titles on a line of a record.
func shortNames(line string, kind history.Kind) []string {
	var found []string
	if mayBeKeyed(line) {
		for _, m := range keyed().FindAllStringSubmatch(line, -1) {
			if v := strings.Trim(m[1]+m[2], "@./-"); len(v) > 1 && len(v) <= maxNamed {
				found = append(found, v)
			}
		}
	}
	if kind != history.Other {
		return found
	}
	for _, m := range title().FindAllStringSubmatch(line, -1) {
		if len(m[1]) >= minTitle && len(m[1]) <= maxNamed {
			found = append(found, m[1])
		}
	}
	return found
}

// mentioned applies the rules about names to what the agent writes: its words, or a call with its arguments.
func (g *goldFinder) mentioned(words string, call *history.ToolCall, args map[string]any) {
	short := wordsNames(words, g.names.short)
	if call != nil {
		texts, values := argTexts(args)
		words = strings.Join(texts, "\n")
		switch call.Kind {
		case history.Bash:
			short = commandNames(call.Command)
		case history.Other:
			short = values
		}
	}
	for _, key := range short {
		g.missable(g.names.short, key, quoteCalls, RuleShort)
	}
	for _, id := range identifiers(words) {
		g.missable(g.names.wide, id, 1<<30, RuleWide)
	}
}

// missable marks the latest line that shows a name. It is missed only if all others are cut, too.
func (g *goldFinder) missable(index map[string]*name, key string, calls int, why rule) {
	n := entry(index, key)
	if n.known || len(n.places) == 0 || len(n.places) > maxPlaces {
		n.known = true
		return
	}
	n.known = true
	latest := n.places[len(n.places)-1]
	if g.call-latest.text.call > calls {
		return
	}
	var others []needPlace
	for _, at := range n.places[:len(n.places)-1] {
		others = append(others, needPlace{at.text.result, at.line})
	}
	g.mark(latest.text, latest.line, why, others...)
}

// commandNames lists what may be ids in a command: letters and digits mixed, or a long number.
func commandNames(command string) []string {
	var found []string
	for _, word := range numbers(command) {
		word = strings.Trim(word, ".-")
		if plain := strings.Trim(word, "0123456789.") == ""; len(word) > 1 && (!plain || digits(word) >= commandName) {
			found = append(found, word)
		}
	}
	return found
}

// wordsNames lists the numbers in the agent's words that a record has, and the titles in quotes, backticks and bold.
func wordsNames(words string, shown map[string]*name) []string {
	var found []string
	add := func(key string, enough bool) {
		if n := shown[key]; enough && n != nil && n.record {
			found = append(found, key)
		}
	}
	for _, word := range numbers(words) {
		word = strings.Trim(word, ".-")
		add(word, digits(word) >= wordsName)
	}
	for _, m := range marked().FindAllStringSubmatch(words, -1) {
		add(m[1]+m[2]+m[3], true)
	}
	return found
}

// marked is a text in quotes, backticks or bold.
var marked = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("\"([^\"\n]+)\"|`([^`\n]+)`|\\*\\*([^*\n]+)\\*\\*") })

func digits(s string) int {
	n := 0
	for _, r := range s {
		if r >= '0' && r <= '9' {
			n++
		}
	}
	return n
}

// argTexts returns the texts of a call's arguments, and the short ones and numbers as they are.
func argTexts(args map[string]any) (texts, values []string) {
	for _, arg := range args {
		switch v := arg.(type) {
		case string:
			texts = append(texts, v)
			if v = strings.Trim(v, "@"); len(v) > 1 && len(v) <= maxNamed {
				values = append(values, v)
			}
		case float64:
			if v >= 10 {
				values = append(values, fmt.Sprint(v))
			}
		case map[string]any:
			t, s := argTexts(v)
			texts, values = append(texts, t...), append(values, s...)
		}
	}
	return texts, values
}
