package exact

import "unicode/utf8"

// The vocabulary comes with rules for splitting text into pieces. No token crosses the end of a
// piece. A piece is one of:
//
//	a word: optionally one other character, then capitals, then small letters, then
//	optionally an English contraction ('s, 'll);
//	up to three digits;
//	a run of punctuation: optionally a space, then punctuation, then line ends and slashes;
//	white space up to its last line end; other white space except its last character,
//	which belongs to the next piece.
//
// The code below implements them for ASCII. A piece with other characters is left to the
// library, up to the next place where a piece certainly ends.

// piece returns the end of the piece that starts at i. It is not plain if a character outside ASCII may belong to it.
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

// boundary returns the first position from i on at which a piece certainly ends: between a line end and a letter or
// digit.
func boundary(s string, i int) int {
	for i = max(i, 1); i < len(s); i++ {
		if s[i-1] == '\n' && (classes[s[i]] == upper || classes[s[i]] == lower || classes[s[i]] == digit) {
			return i
		}
	}
	return len(s)
}

// class is a class of bytes that the rules distinguish.
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
