package lineprune

import (
	"unicode"
	"unicode/utf8"
)

// Byte classes of the scanner; those of identifiers come last.
const (
	other byte = iota
	space
	high // part of a rune outside ASCII
	lower
	upper
	digit
	underscore
)

var class = func() (t [256]byte) {
	for c := range t {
		switch {
		case c == ' ' || c >= '\t' && c <= '\r':
			t[c] = space
		case c >= 'a' && c <= 'z':
			t[c] = lower
		case c >= 'A' && c <= 'Z':
			t[c] = upper
		case c >= '0' && c <= '9':
			t[c] = digit
		case c == '_':
			t[c] = underscore
		case c >= 0x80:
			t[c] = high
		}
	}
	return t
}()

func wordClass(c byte) bool { return c >= lower }

// CountTokens estimates the tokens of one line and its newline: a run of ASCII
// letters, digits and underscores is one, so is every other visible character.
func CountTokens(line string) int {
	n, word := 1, false
	for i := 0; i < len(line); i++ {
		c := class[line[i]]
		inWord := wordClass(c)
		switch {
		case inWord && !word, c == other, c == high && utf8.RuneStart(line[i]):
			n++
		}
		word = inWord
	}
	return n
}

// eachPart cuts an ASCII identifier at underscores, case changes and digits:
// parseHTTPBody_v2 gives parse, HTTP, Body, v, 2. It returns how many there were.
func eachPart(word string, part func(string)) int {
	n, start := 0, 0
	for k := 1; k < len(word); k++ {
		a, b := class[word[k-1]], class[word[k]]
		end := k
		switch {
		case a == underscore:
			start = k
			continue
		case a == b || a == upper && b == lower && k-1 == start:
			continue
		case a == upper && b == lower: // the S of HTTPServer opens a part
			end = k - 1
		}
		part(word[start:end])
		n++
		start = end
	}
	if word != "" && class[word[len(word)-1]] != underscore {
		part(word[start:])
		n++
	}
	return n
}

// lowered appends an ASCII word in lower case to buf.
func lowered(buf []byte, w string) []byte {
	for i := 0; i < len(w); i++ {
		c := w[i]
		if class[c] == upper {
			c |= 0x20
		}
		buf = append(buf, c)
	}
	return buf
}

// stem takes English inflections off a lower-case word, in place. It only has to
// send the same word's forms to one string, not to a word.
func stem(w []byte) []byte {
	if len(w) < 4 || class[w[len(w)-1]] != lower {
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

// has says whether w ends in suffix and keeps at least rest letters before it.
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

// eachRuneWord yields the words of a line that hold letters outside ASCII, lower
// case; scripts written without spaces yield their pairs of characters.
func eachRuneWord(line string, word func(string)) {
	var run []rune
	flush := func() {
		if len(run) > 0 && hasHigh(run) {
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

func hasHigh(run []rune) bool {
	for _, r := range run {
		if r >= utf8.RuneSelf {
			return true
		}
	}
	return false
}

func emitRun(run []rune, word func(string)) {
	if !unspaced(run[0]) || len(run) == 1 {
		word(string(run))
		return
	}
	for i := 0; i+1 < len(run); i++ {
		word(string(run[i : i+2]))
	}
}

func unspaced(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer)
}
