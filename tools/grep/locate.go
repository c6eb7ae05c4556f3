package grep

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// finder is one expression in two forms, for lines that are valid UTF-8 and for others.
type finder struct{ text, broken *regexp.Regexp }

func newFinder(expr string, ignoreCase bool) (*finder, error) {
	if ignoreCase {
		expr = "(?i)" + expr
	}
	text, err := regexp.Compile(strings.ReplaceAll(expr, badByte, ""))
	if err != nil {
		return nil, err
	}
	broken, err := regexp.Compile(strings.ReplaceAll(expr, badByte, `\x{FFFD}`))
	return &finder{text, broken}, err
}

// find returns the start and end of the first match, or nil if there is none.
func (f *finder) find(line []byte) []int {
	if utf8.Valid(line) {
		return f.text.FindIndex(line)
	}
	return f.broken.FindIndex(line)
}

// matcher returns a function that reports whether a line matches. A line with characters
// outside ASCII may match with the word boundaries left out: one line too many is better than
// one that is missing.
func matcher(p *translated) (func([]byte) bool, error) {
	strict, err := newFinder(p.re2, p.ignoreCase)
	if err != nil {
		return nil, err
	}
	loose, err := newFinder(p.loose, p.ignoreCase)
	return func(line []byte) bool {
		return strict.find(line) != nil || !ascii(line) && loose.find(line) != nil
	}, err
}

// locator returns a function that finds where a line matches, which grep does not report.
// It returns -1 when the position is uncertain.
func locator(p *translated) func([]byte) int {
	strict, err := newFinder(p.re2, p.ignoreCase)
	if err != nil {
		return nil
	}
	loose, err := newFinder(p.loose, p.ignoreCase)
	if err != nil {
		return nil
	}
	return func(line []byte) int {
		at := strict.find(line)
		if at == nil || p.loose != p.re2 && !certain(line, at, loose) {
			return -1
		}
		return at[0]
	}
}

// certain reports whether a match of an expression with word boundaries is really the first
// one. Go's regexp treats only ASCII characters as word characters, so next to other
// characters it finds false matches and misses true ones. A match with only ASCII next to
// it is true. It is the first if the expression without its boundaries has no earlier
// match.
func certain(line []byte, at []int, loose *finder) bool {
	if ascii(line) {
		return true
	}
	around := line[max(at[0]-1, 0):min(at[1]+1, len(line))]
	return ascii(around) && loose.find(line)[0] == at[0]
}

func ascii(text []byte) bool {
	for _, ch := range text {
		if ch >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
