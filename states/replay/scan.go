package replay

import "strings"

// The names of a session's results are looked for in every line. Where regular expressions did that, they took a third of a
// replay; scan_test.go has them as the definition of these functions.

// Lengths in bytes of an identifier.
const (
	minIdentifier = 10
	maxIdentifier = 80
)

// classes of bytes
const (
	letter byte = 1 << iota // or an underscore
	digit
	beside // may stand in a number or an id: a dot, a hyphen
	slash
)

var classOf = func() (t [256]byte) {
	for c := range t {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c == '_':
			t[c] = letter
		case c >= '0' && c <= '9':
			t[c] = digit
		case c == '.', c == '-':
			t[c] = beside
		case c == '/':
			t[c] = slash
		}
	}
	return t
}()

// run returns the end of the bytes from a position on that have one of the classes.
func run(s string, from int, classes byte) int {
	for from < len(s) && classOf[s[from]]&classes != 0 {
		from++
	}
	return from
}

// identifiers lists the compound identifiers of a text: those with an underscore or an inner capital.
func identifiers(s string) []string {
	var names []string
	for i := 0; i < len(s); i++ {
		if classOf[s[i]] != letter {
			continue
		}
		end := run(s[:min(len(s), i+maxIdentifier)], i, letter|digit)
		if end-i >= minIdentifier && compound(s[i:end]) {
			names = append(names, s[i:end])
		}
		i = end - 1
	}
	return names
}

func compound(name string) bool {
	name = strings.Trim(name, "_")
	capital, small := false, false
	for i := 0; i < len(name); i++ {
		switch c := name[i]; {
		case c == '_':
			return true
		case c >= 'a' && c <= 'z':
			small = true
		case c >= 'A' && c <= 'Z':
			capital = capital || i > 0
		}
	}
	return capital && small
}

// numbers lists the numbers and ids of a text: letters before a digit, and what follows it.
func numbers(s string) []string {
	var found []string
	for from, i := 0, 0; i < len(s); i++ {
		if classOf[s[i]] != digit {
			continue
		}
		start := i
		for start > from && classOf[s[start-1]] == letter {
			start--
		}
		i = run(s, i, letter|digit|beside)
		found = append(found, s[start:i])
		from, i = i, i-1
	}
	return found
}

// mayBeKeyed reports whether the expression keyed may match: a digit follows a sign as keys have it.
func mayBeKeyed(s string) bool {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '=', ':':
			at := i + 1
			for at < len(s) && (s[at] == ' ' || s[at] >= '\t' && s[at] <= '\r' && s[at] != '\v') {
				at++
			}
			at += len(s[at:]) - len(strings.TrimPrefix(s[at:], `"`))
			at += len(s[at:]) - len(strings.TrimPrefix(s[at:], "@"))
			for end := run(s, at, letter|digit|beside|slash); at < end; at++ {
				if classOf[s[at]] == digit {
					return true
				}
			}
		case '#':
			if run(s, i+1, digit) > i+2 {
				return true
			}
		}
	}
	return false
}
