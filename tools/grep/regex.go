package grep

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// translated is a pattern in ripgrep's syntax, translated for grep -E and for Go's regexp,
// which finds the column.
type translated struct {
	ere        string
	re2        string
	loose      string // re2 without its word boundaries
	ignoreCase bool
}

var errLineEnd = errors.New(`a line end cannot be matched: searches are line by line`)

// translate translates a pattern for the fallback. It refuses what rg would refuse, and
// what grep -E cannot express.
func translate(pattern string, fixed bool) (*translated, error) {
	if strings.Contains(pattern, "\n") {
		return nil, errLineEnd
	}
	if fixed {
		text := regexp.QuoteMeta(pattern)
		return &translated{ere: pattern, re2: text, loose: text}, nil
	}
	t := &translator{in: pattern}
	if rest, ok := strings.CutPrefix(pattern, "(?i)"); ok {
		t.in, t.ignoreCase = rest, true
	}
	if err := t.run(); err != nil {
		return nil, err
	}
	if _, err := regexp.Compile(strings.ReplaceAll(t.re2.String(), badByte, "")); err != nil {
		return nil, err
	}
	return &translated{t.ere.String(), t.re2.String(), t.loose.String(), t.ignoreCase}, nil
}

// badByte marks the places in a translated re2 where a byte of an invalid sequence must not
// match: grep and rg do not treat such a byte as a character, but Go's regexp treats it as
// U+FFFD.
const badByte = "\x00"

// translator parses a pattern from left to right.
type translator struct {
	in              string
	ere, re2, loose strings.Builder
	ignoreCase      bool
}

func (t *translator) put(ere, re2 string) { t.putLoose(ere, re2, re2) }

func (t *translator) putLoose(ere, re2, loose string) {
	t.ere.WriteString(ere)
	t.re2.WriteString(re2)
	t.loose.WriteString(loose)
}

func (t *translator) run() error {
	for t.in != "" {
		ch := t.in[0]
		var err error
		switch ch {
		case '\\':
			err = t.escape()
		case '[':
			err = t.class()
		case '(':
			err = t.group()
		case '{':
			err = t.count()
		case '*', '+', '?':
			t.repeat(string(ch))
		case '.':
			t.in = t.in[1:]
			t.put(".", `[^\n`+badByte+"]")
		default:
			t.in = t.in[1:]
			t.put(string([]byte{ch}), string([]byte{ch}))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// repeat parses a repetition. Whether it is lazy does not affect which lines match, nor
// where the first match begins.
func (t *translator) repeat(op string) {
	t.in = strings.TrimPrefix(t.in[len(op):], "?")
	t.put(op, op)
}

var counted = regexp.MustCompile(`^\{[0-9]+(,[0-9]*)?\}`)

func (t *translator) count() error {
	op := counted.FindString(t.in)
	if op == "" {
		return errors.New(`"{" must be followed by a count, or be written \{`)
	}
	t.repeat(op)
	return nil
}

var groupName = regexp.MustCompile(`^\(\?(:|P?<[A-Za-z_][A-Za-z0-9_]*>)`)

func (t *translator) group() error {
	if head := groupName.FindString(t.in); head != "" {
		t.in = t.in[len(head):]
		t.put("(", "(?:")
		return nil
	}
	if strings.HasPrefix(t.in, "(?") {
		return errors.New(`only (?:...), (?<name>...) and a leading (?i) are understood without ripgrep`)
	}
	t.in = t.in[1:]
	t.put("(", "(")
	return nil
}

// shorthand is a Perl class in two forms: inside brackets and, if negated, outside.
type shorthand struct{ posix, unicode string }

var shorthands = map[byte]shorthand{
	'd': {"0-9", `\p{Nd}`},
	's': {"[:space:]", `\s\v\p{Z}`},
	'w': {"[:alnum:]_", `\p{L}\p{M}\p{N}\p{Pc}`},
}

// escape parses a backslash and the character after it.
func (t *translator) escape() error {
	if len(t.in) < 2 {
		return errors.New("the pattern ends in a backslash")
	}
	ch := t.in[1]
	lower := ch | 0x20
	if class, ok := shorthands[lower]; ok {
		t.in = t.in[2:]
		if ch == lower {
			t.put("["+class.posix+"]", "["+class.unicode+"]")
		} else {
			t.put("[^"+class.posix+"]", "[^"+class.unicode+badByte+"]")
		}
		return nil
	}
	switch ch {
	case 'b', 'B':
		boundary := t.in[:2]
		t.in = t.in[2:]
		t.putLoose(boundary, boundary, "(?:)")
		return nil
	case 'A', 'z':
		t.in = t.in[2:]
		anchor := map[byte]string{'A': "^", 'z': "$"}[ch]
		t.put(anchor, anchor)
		return nil
	case 'p', 'P':
		return t.property()
	}
	r, err := t.char()
	if err != nil {
		return err
	}
	t.put(quoteERE(r), regexp.QuoteMeta(string(r)))
	return nil
}

func quoteERE(r rune) string {
	if strings.ContainsRune(`.[]{}()*+?|^$\`, r) {
		return `\` + string(r)
	}
	return string(r)
}

var properties = map[string]shorthand{
	"L": {"[:alpha:]", `\p{L}`}, "Letter": {"[:alpha:]", `\p{L}`}, "Alphabetic": {"[:alpha:]", `\p{L}`},
	"Lu": {"[:upper:]", `\p{Lu}`}, "Uppercase": {"[:upper:]", `\p{Lu}`},
	"Ll": {"[:lower:]", `\p{Ll}`}, "Lowercase": {"[:lower:]", `\p{Ll}`},
	"N": {"[:digit:]", `\p{N}`}, "Nd": {"[:digit:]", `\p{Nd}`}, "P": {"[:punct:]", `\p{P}`},
}

var property = regexp.MustCompile(`^\\([pP])(?:\{([A-Za-z]+)\}|([A-Z]))`)

func (t *translator) property() error {
	m := property.FindStringSubmatch(t.in)
	if m == nil || properties[m[2]+m[3]].posix == "" {
		return errors.New(`this \p class is not understood without ripgrep`)
	}
	t.in = t.in[len(m[0]):]
	class := properties[m[2]+m[3]]
	if m[1] == "P" {
		t.put("[^"+class.posix+"]", "[^"+class.unicode+badByte+"]")
	} else {
		t.put("["+class.posix+"]", "["+class.unicode+"]")
	}
	return nil
}

var hexChar = regexp.MustCompile(`^\\(?:x([0-9A-Fa-f]{2})|[xu]\{([0-9A-Fa-f]{1,8})\}|u([0-9A-Fa-f]{4}))`)

// char parses one escaped character.
func (t *translator) char() (rune, error) {
	if m := hexChar.FindStringSubmatch(t.in); m != nil {
		n, err := strconv.ParseInt(m[1]+m[2]+m[3], 16, 32)
		if err != nil || n == 0 || n == '\n' {
			return 0, fmt.Errorf("%s cannot be searched for", m[0])
		}
		t.in = t.in[len(m[0]):]
		return rune(n), nil
	}
	ch := t.in[1]
	if plain, ok := map[byte]rune{'t': '\t', 'r': '\r', 'f': '\f', 'v': '\v', 'a': '\a'}[ch]; ok {
		t.in = t.in[2:]
		return plain, nil
	}
	switch {
	case ch == 'n':
		return 0, errLineEnd
	case ch >= '0' && ch <= '9':
		return 0, errors.New("backreferences are not supported")
	case ch < ' ' || ch >= 0x80 || isLetter(ch) || ch == '<' || ch == '>':
		return 0, fmt.Errorf("unrecognized escape sequence: %.2s", t.in)
	}
	t.in = t.in[2:]
	return rune(ch), nil
}

func isLetter(ch byte) bool { return 'a' <= ch|0x20 && ch|0x20 <= 'z' }
