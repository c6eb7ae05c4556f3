package exact

import "unicode/utf8"

// The vocabulary comes with rules for cutting text into pieces, none of which a
// token may cross:
//
//	a word: one other character in front of it if it likes, capitals and then
//	small letters, and an English contraction behind ('s, 'll);
//	up to three digits;
//	a run of punctuation: a space in front, line ends and slashes behind;
//	white space up to the last line end in it; other white space but for its last
//	character, which goes to what follows.
//
// They are written down here for ASCII. Whatever else a piece meets is left to
// the library, up to where a piece is sure to end.

// piece returns where the piece that starts at i ends. It is not plain when a
// character that is not ASCII may belong to it.
func piece(s string, i int) (end int, plain bool) {
	switch c := s[i]; classes[c] {
	case upper, lower:
		return word(s, i)
	case digit:
		return digits(s, i)
	case lineEnd:
		return blank(s, i)
	case wide:
		return i, false
	default: // space or punctuation
		if i+1 == len(s) {
			return i + 1, true
		}
		switch next := classes[s[i+1]]; {
		case next == wide:
			return i + 1, false
		case next == upper || next == lower:
			return word(s, i+1)
		case classes[c] == punct:
			return punctuation(s, i)
		case c == ' ' && next == punct:
			return punctuation(s, i+1)
		}
		return blank(s, i)
	}
}

func word(s string, i int) (int, bool) {
	i = run(s, i, upper)
	i = run(s, i, lower)
	if i == len(s) {
		return i, true
	}
	if s[i] == '\'' {
		return contraction(s, i)
	}
	return i, classes[s[i]] != wide
}

func contraction(s string, i int) (int, bool) {
	if i+1 == len(s) {
		return i, true
	}
	switch s[i+1] | 0x20 {
	case 's', 't', 'm', 'd':
		return i + 2, true
	case 'r', 'v':
		if i+2 < len(s) && s[i+2]|0x20 == 'e' {
			return i + 3, true
		}
	case 'l':
		if i+2 < len(s) && s[i+2]|0x20 == 'l' {
			return i + 3, true
		}
	}
	return i, classes[s[i+1]] != wide
}

func digits(s string, i int) (int, bool) {
	for n := 0; n < 3; n++ {
		if i == len(s) || classes[s[i]] != digit {
			return i, i == len(s) || classes[s[i]] != wide
		}
		i++
	}
	return i, true
}

func punctuation(s string, i int) (int, bool) {
	i = run(s, i, punct)
	if i < len(s) && classes[s[i]] == wide {
		return i, false
	}
	for i < len(s) && (classes[s[i]] == lineEnd || s[i] == '/') {
		i++
	}
	return i, true
}

func blank(s string, i int) (int, bool) {
	start, last := i, -1
	for i < len(s) && (classes[s[i]] == space || classes[s[i]] == lineEnd) {
		if classes[s[i]] == lineEnd {
			last = i
		}
		i++
	}
	switch {
	case i < len(s) && classes[s[i]] == wide:
		return i, false
	case last >= 0:
		return last + 1, true
	case i == len(s) || i == start+1:
		return i, true
	}
	return i - 1, true
}

func run(s string, i int, of class) int {
	for i < len(s) && classes[s[i]] == of {
		i++
	}
	return i
}

// boundary is the first place from i on where a piece is sure to end: between a
// line end and a letter or digit.
func boundary(s string, i int) int {
	for i = max(i, 1); i < len(s); i++ {
		if s[i-1] == '\n' && (classes[s[i]] == upper || classes[s[i]] == lower || classes[s[i]] == digit) {
			return i
		}
	}
	return len(s)
}

// class is what the rules tell bytes apart by.
type class uint8

const (
	punct class = iota // and control characters
	upper
	lower
	digit
	space
	lineEnd
	wide // part of a character that is left to the library
)

var classes = func() (of [256]class) {
	for c := range of {
		switch {
		case c >= utf8.RuneSelf || c == 0x7f: // DEL is missing from the library's vocabulary
			of[c] = wide
		case c >= 'A' && c <= 'Z':
			of[c] = upper
		case c >= 'a' && c <= 'z':
			of[c] = lower
		case c >= '0' && c <= '9':
			of[c] = digit
		case c == '\r' || c == '\n':
			of[c] = lineEnd
		case c == ' ' || c == '\t' || c == '\v' || c == '\f':
			of[c] = space
		}
	}
	return of
}()
