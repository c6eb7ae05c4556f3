package grep

import (
	"errors"
	"regexp"
	"strings"
	"unicode/utf8"
)

// bracket collects the parts of a character class. In POSIX, "]", "^" and "-" are literal
// only in certain positions, so they are placed there.
type bracket struct {
	posix               strings.Builder
	re2                 strings.Builder
	close, caret, minus bool
	negated             []shorthand // \D, \S and \W, which POSIX cannot express inside brackets
}

var posixClass = regexp.MustCompile(`^\[:(\^?)[a-z]+:\]`)

// asciiClasses are named classes that are ASCII in rg, but that grep extends beyond ASCII
// or does not know.
var asciiClasses = map[string]string{
	"[:alnum:]": "0-9A-Za-z", "[:alpha:]": "A-Za-z", "[:lower:]": "a-z", "[:upper:]": "A-Z", "[:word:]": "0-9A-Za-z_",
}

var errClass = errors.New("this character class is not understood without ripgrep")

// class parses [...].
func (t *translator) class() error {
	t.in = t.in[1:]
	not := ""
	if rest, ok := strings.CutPrefix(t.in, "^"); ok {
		t.in, not = rest, "^"
	}
	var b bracket
	for first := true; ; first = false {
		if t.in == "" {
			return errors.New("unclosed character class")
		}
		if t.in[0] == ']' && !first {
			t.in = t.in[1:]
			break
		}
		if err := t.classItem(&b); err != nil {
			return err
		}
	}
	if len(b.negated) > 0 {
		return t.union(&b, not != "")
	}
	re2 := "[" + b.re2.String() + "]"
	if not != "" {
		re2 = "[^" + b.re2.String() + badByte + "]"
	}
	t.put("["+not+b.ordered(not != "")+"]", re2)
	return nil
}

// union translates a class that contains negated shorthands, such as [\s\S], to an
// alternation of classes. The negation of such a class has no equivalent if it has several
// parts.
func (t *translator) union(b *bracket, not bool) error {
	plain := b.ordered(false)
	if not && (plain != "" || len(b.negated) > 1) {
		return errClass
	}
	if not {
		t.put("["+b.negated[0].posix+"]", "["+b.negated[0].unicode+"]")
		return nil
	}
	var posix, re2 []string
	if plain != "" {
		posix, re2 = append(posix, "["+plain+"]"), append(re2, "["+b.re2.String()+"]")
	}
	for _, class := range b.negated {
		posix, re2 = append(posix, "[^"+class.posix+"]"), append(re2, "[^"+class.unicode+badByte+"]")
	}
	t.put("("+strings.Join(posix, "|")+")", "(?:"+strings.Join(re2, "|")+")")
	return nil
}

// ordered returns the class with its special characters in their positions. A class that
// contains only "^" cannot begin with it, so a range expresses it.
func (b *bracket) ordered(negated bool) string {
	s := b.posix.String()
	if b.close {
		s = "]" + s
	}
	if b.caret {
		if s == "" && !negated && !b.minus {
			return "[.^.]"
		}
		if s == "" && !negated {
			return "-^"
		}
		s += "^"
	}
	if b.minus {
		s += "-"
	}
	return s
}

// classItem parses one character, range or named class.
func (t *translator) classItem(b *bracket) error {
	if m := posixClass.FindStringSubmatch(t.in); m != nil {
		if m[1] != "" {
			return errClass
		}
		t.in = t.in[len(m[0]):]
		b.re2.WriteString(m[0])
		if ranges, ok := asciiClasses[m[0]]; ok {
			b.posix.WriteString(ranges)
			return nil
		}
		b.posix.WriteString(m[0])
		return nil
	}
	if t.in[0] == '[' || strings.HasPrefix(t.in, "&&") || strings.HasPrefix(t.in, "--") || strings.HasPrefix(t.in, "~~") {
		return errClass
	}
	if len(t.in) > 1 && t.in[0] == '\\' {
		if class, ok := shorthands[t.in[1]]; ok {
			t.in = t.in[2:]
			b.posix.WriteString(class.posix)
			b.re2.WriteString(class.unicode)
			return nil
		}
		if class, ok := shorthands[t.in[1]|0x20]; ok {
			t.in = t.in[2:]
			b.negated = append(b.negated, class)
			return nil
		}
	}
	from, err := t.classChar()
	if err != nil {
		return err
	}
	if strings.HasPrefix(t.in, "--") {
		return errClass
	}
	if len(t.in) > 1 && t.in[0] == '-' && t.in[1] != ']' {
		t.in = t.in[1:]
		to, err := t.classChar()
		if err != nil {
			return err
		}
		return b.span(from, to)
	}
	b.char(from)
	return nil
}

func (t *translator) classChar() (rune, error) {
	if t.in[0] == '\\' {
		if len(t.in) < 2 {
			return 0, errors.New("unclosed character class")
		}
		return t.char()
	}
	r, size := utf8.DecodeRuneInString(t.in)
	t.in = t.in[size:]
	return r, nil
}

func (b *bracket) char(r rune) {
	b.re2.WriteString(quoteClass(r))
	switch r {
	case ']':
		b.close = true
	case '^':
		b.caret = true
	case '-':
		b.minus = true
	default:
		b.posix.WriteRune(r)
	}
}

// maxSpelt is the maximum length of a range that has to be written out.
const maxSpelt = 2048

// span adds a range. The characters are listed one by one if an end is special in POSIX, or
// is beyond ASCII, where some locales define no order.
func (b *bracket) span(from, to rune) error {
	if from > to {
		return errors.New("invalid character class range")
	}
	if strings.ContainsRune("]^-[", from) || strings.ContainsRune("]^-[", to) || to >= utf8.RuneSelf {
		if to-from > maxSpelt {
			return errClass
		}
		for r := from; r <= to; r++ {
			b.char(r)
		}
		return nil
	}
	b.posix.WriteRune(from)
	b.posix.WriteByte('-')
	b.posix.WriteRune(to)
	b.re2.WriteString(quoteClass(from) + "-" + quoteClass(to))
	return nil
}

func quoteClass(r rune) string {
	if strings.ContainsRune(`\]^-[`, r) {
		return `\` + string(r)
	}
	return string(r)
}
