package doc

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Byte classes of the scanner; those of identifiers come last.
const (
	OtherByte byte = iota
	Space
	HighByte // part of a non-ASCII rune
	Lower
	Upper
	Digit
	underscore
)

var ByteClass = func() (t [256]byte) {
	for c := range t {
		switch {
		case c == ' ' || c >= '\t' && c <= '\r':
			t[c] = Space
		case c >= 'a' && c <= 'z':
			t[c] = Lower
		case c >= 'A' && c <= 'Z':
			t[c] = Upper
		case c >= '0' && c <= '9':
			t[c] = Digit
		case c == '_':
			t[c] = underscore
		case c >= 0x80:
			t[c] = HighByte
		}
	}
	return t
}()

func InWord(c byte) bool { return c >= Lower }

// ByteBit has one bit for the class of a byte of a word, and is 0 for other bytes. The bits of a word's bytes
// together tell of which classes it consists.
var ByteBit = func() (t [256]byte) {
	for c, class := range ByteClass {
		if InWord(class) {
			t[c] = 1 << class
		}
	}
	return t
}()

// EachPart splits an ASCII identifier at underscores, case changes and digits: parseHTTPBody_v2 yields
// parse, HTTP, Body, v, 2. It returns the number of parts.
func EachPart(word string, part func(string)) int {
	n, start := 0, 0
	for k := 1; k < len(word); k++ {
		a, b := ByteClass[word[k-1]], ByteClass[word[k]]
		end := k
		switch {
		case a == underscore:
			start = k
			continue
		case a == b || a == Upper && b == Lower && k-1 == start:
			continue
		case a == Upper && b == Lower: // the S of HTTPServer starts a part
			end = k - 1
		}
		part(word[start:end])
		n++
		start = end
	}
	if word != "" && ByteClass[word[len(word)-1]] != underscore {
		part(word[start:])
		n++
	}
	return n
}

// Lowered appends an ASCII word in lower case to buf.
func Lowered(buf []byte, w string) []byte {
	for i := 0; i < len(w); i++ {
		c := w[i]
		if ByteClass[c] == Upper {
			c |= 0x20
		}
		buf = append(buf, c)
	}
	return buf
}

// Stem removes English inflections from a lower-case word, in place. The stem need not be a word; it only
// has to be equal for all forms of the word.
func Stem(w []byte) []byte {
	if len(w) < 4 || ByteClass[w[len(w)-1]] != Lower {
		return w
	}
	w = stemPlural(w)
	switch {
	case has(w, "ingly", 5), has(w, "edly", 5):
		w = w[:len(w)-4]
	case has(w, "ied", 2):
		w[len(w)-3] = 'y'
		w = w[:len(w)-2]
	case has(w, "ing", 3):
		w = undouble(w[:len(w)-3])
	case has(w, "ed", 3) && !has(w, "eed", 1):
		w = undouble(w[:len(w)-2])
	case has(w, "ment", 4), has(w, "ness", 4), has(w, "able", 4):
		w = w[:len(w)-4]
	case has(w, "ion", 4):
		w = w[:len(w)-3]
	case has(w, "er", 4), has(w, "or", 4):
		w = undouble(w[:len(w)-2])
	case has(w, "ly", 4):
		w = w[:len(w)-2]
	}
	if has(w, "e", 3) {
		w = w[:len(w)-1]
	}
	if has(w, "at", 5) {
		w = w[:len(w)-2]
	}
	return w
}

func stemPlural(w []byte) []byte {
	n := len(w)
	switch {
	case has(w, "ies", 2):
		w[n-3] = 'y'
		return w[:n-2]
	case has(w, "sses", 1), has(w, "shes", 2), has(w, "ches", 2), has(w, "xes", 2):
		return w[:n-2]
	case has(w, "ss", 1), has(w, "us", 2), has(w, "is", 2), !has(w, "s", 3):
		return w
	}
	return w[:n-1]
}

// has reports whether w ends in suffix and has at least rest letters before it.
func has(w []byte, suffix string, rest int) bool {
	n := len(w) - len(suffix)
	return n >= rest && string(w[n:]) == suffix
}

func undouble(w []byte) []byte {
	n := len(w)
	if n > 3 && w[n-1] == w[n-2] && w[n-1] != 's' && w[n-1] != 'l' {
		return w[:n-1]
	}
	return w
}

// EachRuneWord yields the words of a line with non-ASCII letters, in lower case. Scripts written without
// spaces yield their pairs of adjacent characters.
func EachRuneWord(line string, word func(string)) {
	var run []rune
	flush := func() {
		if slices.ContainsFunc(run, func(r rune) bool { return r >= utf8.RuneSelf }) {
			emitRun(run, word)
		}
		run = run[:0]
	}
	for _, r := range line {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.Mn, r) {
			run = append(run, unicode.ToLower(r))
			continue
		}
		flush()
	}
	flush()
}

func emitRun(run []rune, word func(string)) {
	if !Unspaced(run[0]) || len(run) == 1 {
		word(string(run))
		return
	}
	for i := 0; i+1 < len(run); i++ {
		word(string(run[i : i+2]))
	}
}

func Unspaced(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer)
}

func StemOf(w string) string { return string(Stem([]byte(strings.ToLower(w)))) }

func StemSet(words []string) map[string]bool {
	out := map[string]bool{}
	for _, w := range words {
		out[StemOf(w)] = true
	}
	return out
}

func FirstVisible(line string) int {
	for i := 0; i < len(line); i++ {
		if ByteClass[line[i]] != Space {
			return i
		}
	}
	return 0
}

func Letter(c byte) bool { return ByteClass[c] == Lower || ByteClass[c] == Upper }

// IsHash reports whether s is the hash of a commit, perhaps shortened.
func IsHash(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return len(s) >= 7 && len(s) <= 64
}

// HasLetter reports whether s has a letter of any script.
func HasLetter(s string) bool {
	for i := 0; i < len(s); i++ {
		if Letter(s[i]) || ByteClass[s[i]] == HighByte {
			return true
		}
	}
	return false
}

// WordFilter is a bitmap of three-letter prefixes, like a Bloom filter: it rejects nearly every word of a text
// with a single memory access, and never one that matters.
type WordFilter [1 << 15 / 64]uint64

func WordKey(w string) uint {
	k := uint(w[0]&31)<<10 | uint(w[1]&31)<<5
	if len(w) > 2 {
		k |= uint(w[2] & 31)
	}
	return k
}

// Add adds stem w and its inflections. Only a final y changes a letter (flies is a form of fly).
func (f *WordFilter) Add(w string) {
	if len(w) < 2 {
		return
	}
	f.set(WordKey(w))
	if len(w) == 3 && w[2] == 'y' {
		f.set(WordKey(w[:2] + "i"))
	}
}

func (f *WordFilter) set(k uint) { f[k>>6] |= 1 << (k & 63) }

// Passes reports whether w may be an inflection of an added stem. w has at least two letters.
func (f *WordFilter) Passes(w string) bool {
	k := WordKey(w)
	return f[k>>6]>>(k&63)&1 != 0
}
