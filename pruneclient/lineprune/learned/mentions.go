package learned

import (
	"path"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/session"
)

// mentions holds the session's references to lines of this text: line numbers, and lines quoted verbatim.
type mentions struct {
	numbers map[int]int32      // line number in the file -> events since it was named, from 1
	places  map[string]int32   // path:line of any file -> events since it was named, from 1
	files   map[string]int32   // base name -> events since the file was named, read or edited, from 1
	verbat  [3]map[uint64]bool // hashes of lines in messages, edits and outputs
}

// The sources of verbatim lines.
const (
	inWords = iota
	inEdits
	inOutputs
)

// shortestVerbatim is the length of the shortest trimmed line whose reappearance is informative.
const shortestVerbatim = 8

func newMentions(in *Input) *mentions {
	m := &mentions{numbers: map[int]int32{}, places: map[string]int32{}, files: map[string]int32{}}
	for k := range m.verbat {
		m.verbat[k] = map[uint64]bool{}
	}
	base := path.Base(in.File)
	if in.File == "" {
		base = ""
	}
	m.text(in.Question, base, 1, inWords)
	for i, e := range in.Events {
		if i == maxEvents {
			break
		}
		age := int32(i + 1)
		if e.File != "" {
			named(m.files, path.Base(e.File), age)
		}
		text := e.Text[:min(len(e.Text), maxEventText)]
		switch e.Kind {
		case session.Say:
			m.text(text, base, age, inWords)
		case session.Edit:
			m.lines(text, inEdits)
		case session.Result:
			m.text(text, base, age, inOutputs)
		}
	}
	return m
}

// named records when something was named, by its latest time.
func named[K comparable](ages map[K]int32, what K, age int32) {
	if old, ok := ages[what]; !ok || old > age {
		ages[what] = age
	}
}

// text records the lines, references (path:number, "line 12") and file names of one event's text.
func (m *mentions) text(text, base string, age int32, kind int) {
	about := base != "" && strings.Contains(text, base)
	for line := range strings.Lines(text) {
		m.line(strings.TrimRight(line, "\r\n"), base, about, age, kind)
	}
}

func (m *mentions) lines(text string, kind int) {
	for line := range strings.Lines(text) {
		if t := strings.TrimSpace(line); len(t) >= shortestVerbatim {
			m.verbat[kind][longHash(t)] = true
		}
	}
}

func (m *mentions) line(line, base string, about bool, age int32, kind int) {
	if t := strings.TrimSpace(line); len(t) >= shortestVerbatim {
		m.verbat[kind][longHash(t)] = true
	}
	for i := 0; i < len(line); {
		c := class[line[i]]
		if c < lower && line[i] != '/' && line[i] != '.' {
			i++
			continue
		}
		end := i + 1
		for end < len(line) && (class[line[end]] >= lower || strings.IndexByte("/.-", line[end]) >= 0) {
			end++
		}
		word := strings.TrimRight(line[i:end], ".-")
		m.word(word, line[end:], base, about, age)
		i = end
	}
}

// word records a path with what follows it, or a line number.
func (m *mentions) word(word, rest, base string, about bool, age int32) {
	dot := strings.LastIndexByte(word, '.')
	switch {
	case dot > 0 && dot < len(word)-1 && class[word[dot+1]] == lower && len(word) < 200:
		name := path.Base(word)
		named(m.files, name, age)
		if n := numberAfter(rest, `:`, `", line `, `(`, `#L`); n > 0 {
			named(m.places, placeKey(name, n), age)
			if name == base {
				named(m.numbers, n, age)
			}
		}
	case about && (word == "line" || word == "lines" || word == "Line" || word == "Lines" || word == "L"):
		if n := numberAfter(rest, " ", " ~"); n > 0 {
			named(m.numbers, n, age)
			if to := numberAfter(strings.TrimLeft(rest, " ~0123456789"), "-", "–", " to ", " and ", "–"); to > n && to < n+400 {
				named(m.numbers, to, age)
			}
		}
	}
}

func placeKey(name string, n int) string {
	var buf [20]byte
	i := len(buf)
	for ; n > 0; n /= 10 {
		i--
		buf[i] = byte('0' + n%10)
	}
	return name + ":" + string(buf[i:])
}

// numberAfter returns the number that follows one of the prefixes at the start of s, or 0.
func numberAfter(s string, prefixes ...string) int {
	for _, p := range prefixes {
		rest, ok := strings.CutPrefix(s, p)
		if n, _ := leadingNumber(rest); ok && n > 0 {
			return n
		}
	}
	return 0
}

// leadingNumber parses at most seven digits at the start of s. end is the offset after them.
func leadingNumber(s string) (n, end int) {
	for end < len(s) && end < 7 && class[s[end]] == digit {
		n = n*10 + int(s[end]-'0')
		end++
	}
	return n, end
}

// longHash is the 64-bit FNV-1a hash.
func longHash(s string) uint64 {
	h := uint64(14695981039346656037)
	for i := 0; i < len(s); i++ {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return h
}
