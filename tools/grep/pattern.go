package grep

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// pattern is the pattern of a search in the form that the engines other than rg take.
type pattern struct {
	ere        string // for grep -E, or grep -F if it is fixed text; "" if only Go's regexp can express it
	ignoreCase bool

	strict, loose *finder // loose is strict without its word boundaries, and nil if it has none
}

var errLineEnd = errors.New("a line end cannot be matched: searches are line by line")

// parse translates a pattern from rg's syntax. It refuses what rg would refuse, and what Go's regexp cannot express.
func (s Search) parse() (*pattern, error) {
	if strings.Contains(s.Pattern, "\n") {
		return nil, errLineEnd
	}
	p := &pattern{ere: s.Pattern, ignoreCase: s.IgnoreCase}
	expr := regexp.QuoteMeta(s.Pattern)
	if !s.Fixed {
		in, ignoreCase := strings.CutPrefix(s.Pattern, "(?i)")
		p.ignoreCase = p.ignoreCase || ignoreCase
		t := translator{in: in}
		if err := t.run(); err != nil {
			return nil, err
		}
		expr, p.ere = t.re2, t.ere
		if t.re2Only {
			p.ere = ""
		}
	}
	return p, p.compile(expr)
}

func (p *pattern) compile(expr string) (err error) {
	flags := syntax.Perl
	if p.ignoreCase {
		flags |= syntax.FoldCase
	}
	bounded := false
	if p.strict, err = newFinder(expr, flags, func(node *syntax.Regexp) {
		bounded = bounded || boundary(node)
	}); err != nil || !bounded {
		return err
	}
	p.loose, err = newFinder(expr, flags, func(node *syntax.Regexp) {
		if boundary(node) {
			node.Op = syntax.OpEmptyMatch
		}
	})
	return err
}

func boundary(node *syntax.Regexp) bool {
	return node.Op == syntax.OpWordBoundary || node.Op == syntax.OpNoWordBoundary
}

// matches reports whether a line matches. A line with characters outside ASCII may match with the word boundaries left
// out: one line too many is better than one that is missing.
func (p *pattern) matches(line []byte) bool {
	return p.strict.find(line) != nil || p.loose != nil && !ascii(line) && p.loose.find(line) != nil
}

// locate returns the offset of the first match in a line, which grep does not report, or -1 if it is uncertain. Go's
// regexp treats only ASCII characters as word characters, so next to other characters it finds false matches at word
// boundaries and misses true ones. A match with only ASCII next to it is true. It is the first if the expression without
// its boundaries has no earlier match.
func (p *pattern) locate(line []byte) int {
	at := p.strict.find(line)
	switch {
	case at == nil:
		return -1
	case p.loose == nil || ascii(line):
		return at[0]
	}
	around := line[max(at[0]-1, 0):min(at[1]+1, len(line))]
	if ascii(around) && p.loose.find(line)[0] == at[0] {
		return at[0]
	}
	return -1
}

func ascii(text []byte) bool {
	return !slices.ContainsFunc(text, func(ch byte) bool { return ch >= utf8.RuneSelf })
}

// finder is one expression in two forms, for lines that are valid UTF-8 and for others: grep and rg do not treat a byte
// of an invalid sequence as a character, but Go's regexp treats it as U+FFFD.
type finder struct{ text, broken *regexp.Regexp }

func newFinder(expr string, flags syntax.Flags, change func(*syntax.Regexp)) (*finder, error) {
	tree, err := syntax.Parse(expr, flags)
	if err != nil {
		return nil, err
	}
	each(tree, change)
	f := &finder{}
	if f.text, err = regexp.Compile(tree.String()); err != nil {
		return nil, err
	}
	each(tree, withoutBadBytes)
	f.broken, err = regexp.Compile(tree.String())
	return f, err
}

func each(node *syntax.Regexp, change func(*syntax.Regexp)) {
	change(node)
	for _, sub := range node.Sub {
		each(sub, change)
	}
}

// withoutBadBytes takes U+FFFD out of a class that contains it among others.
func withoutBadBytes(node *syntax.Regexp) {
	switch node.Op {
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		node.Op, node.Rune = syntax.OpCharClass, []rune{0, '\n' - 1, '\n' + 1, utf8.MaxRune}
	case syntax.OpCharClass:
	default:
		return
	}
	var ranges []rune
	for i := 0; i < len(node.Rune); i += 2 {
		from, to := node.Rune[i], node.Rune[i+1]
		if from == to || to < utf8.RuneError || from > utf8.RuneError {
			ranges = append(ranges, from, to)
			continue
		}
		if from < utf8.RuneError {
			ranges = append(ranges, from, utf8.RuneError-1)
		}
		if to > utf8.RuneError {
			ranges = append(ranges, utf8.RuneError+1, to)
		}
	}
	node.Rune = ranges
}

// find returns the start and end of the first match, or nil if there is none.
func (f *finder) find(line []byte) []int {
	if utf8.Valid(line) {
		return f.text.FindIndex(line)
	}
	return f.broken.FindIndex(line)
}

// translator reads a pattern from left to right.
type translator struct {
	in, ere, re2 string
	re2Only      bool // grep -E cannot express it
	inClass      bool
}

// take moves on by n bytes, which the two engines take in these forms.
func (t *translator) take(n int, ere, re2 string) {
	t.in, t.ere, t.re2 = t.in[n:], t.ere+ere, t.re2+re2
}

var (
	count     = regexp.MustCompile(`^\{[0-9]+(,[0-9]*)?\}`)
	groupName = regexp.MustCompile(`^\(\?(:|P?<[A-Za-z_][A-Za-z0-9_]*>)`)
)

func (t *translator) run() error {
	for t.in != "" {
		var err error
		switch ch := t.in[:1]; {
		case ch == `\`:
			err = t.escape()
		case ch == "[":
			err = t.class()
		case ch == "{":
			op := count.FindString(t.in)
			if op == "" {
				return errors.New(`"{" must be followed by a count, or be written \{`)
			}
			t.repeat(op)
		case strings.Contains("*+?", ch):
			t.repeat(ch)
		case groupName.MatchString(t.in):
			t.take(len(groupName.FindString(t.in)), "(", "(?:")
		case strings.HasPrefix(t.in, "(?"):
			t.take(2, "", "(?")
			t.re2Only = true
		default:
			t.take(1, ch, ch)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// repeat takes a repetition. Whether it is lazy does not affect which lines match, nor where the first match begins.
func (t *translator) repeat(op string) {
	t.take(len(op), op, op)
	t.in = strings.TrimPrefix(t.in, "?")
}

// shorthands are the Perl classes: for grep, and as the content of brackets for Go, whose own are ASCII, as rg's are not.
var shorthands = sync.OnceValue(func() map[string]shorthand {
	return map[string]shorthand{
		"d": {"[0-9]", `\p{Nd}`}, "D": {"[^0-9]", others(`\p{Nd}`)},
		"s": {"[[:space:]]", `\s\v\p{Z}`}, "S": {"[^[:space:]]", others(`\s\v\p{Z}`)},
		"w": {"[[:alnum:]_]", `\p{L}\p{M}\p{N}\p{Pc}`}, "W": {"[^[:alnum:]_]", others(`\p{L}\p{M}\p{N}\p{Pc}`)},
	}
})

type shorthand struct{ ere, re2 string }

// others returns the content of brackets for all characters outside a class.
func others(class string) string {
	tree, _ := syntax.Parse("[^"+class+"]", syntax.Perl)
	var b strings.Builder
	for i := 0; i < len(tree.Rune); i += 2 {
		fmt.Fprintf(&b, `\x{%x}-\x{%x}`, tree.Rune[i], tree.Rune[i+1])
	}
	return b.String()
}

var (
	property = regexp.MustCompile(`^\\([pP])(?:\{([A-Za-z_]+)\}|([A-Z]))`)
	// longNames are those of rg that Go's regexp does not know.
	longNames = map[string]string{"Letter": "L", "Alphabetic": "L", "Uppercase": "Lu", "Lowercase": "Ll"}
	anchors   = map[string]string{"b": `\b`, "B": `\B`, "A": "^", "z": "$"}
)

// escape takes a backslash and what belongs to it.
func (t *translator) escape() error {
	if len(t.in) < 2 {
		return errors.New("the pattern ends in a backslash")
	}
	if class, ok := shorthands()[t.in[1:2]]; ok && t.inClass {
		t.take(2, "", class.re2)
		return nil
	} else if ok {
		t.take(2, class.ere, "["+class.re2+"]")
		return nil
	}
	if anchor, ok := anchors[t.in[1:2]]; ok && !t.inClass {
		t.take(2, anchor, anchor)
		return nil
	}
	if m := property.FindStringSubmatch(t.in); m != nil {
		name := m[2] + m[3]
		t.take(len(m[0]), "", `\`+m[1]+"{"+cmp.Or(longNames[name], name)+"}")
		t.re2Only = true
		return nil
	}
	r, n, err := t.char()
	if err == nil {
		t.take(n, regexp.QuoteMeta(string(r)), fmt.Sprintf(`\x{%x}`, r))
	}
	return err
}

var (
	hexChar  = regexp.MustCompile(`^\\(?:x([0-9A-Fa-f]{2})|[xu]\{([0-9A-Fa-f]{1,8})\}|u([0-9A-Fa-f]{4}))`)
	controls = map[byte]rune{'t': '\t', 'r': '\r', 'f': '\f', 'v': '\v', 'a': '\a'}
)

// char returns an escaped character and the number of bytes it takes.
func (t *translator) char() (rune, int, error) {
	if m := hexChar.FindStringSubmatch(t.in); m != nil {
		n, err := strconv.ParseInt(m[1]+m[2]+m[3], 16, 32)
		if err != nil || n == 0 || n == '\n' {
			return 0, 0, fmt.Errorf("%s cannot be searched for", m[0])
		}
		return rune(n), len(m[0]), nil
	}
	ch := t.in[1]
	if control, ok := controls[ch]; ok {
		return control, 2, nil
	}
	switch {
	case ch == 'n':
		return 0, 0, errLineEnd
	case ch >= '0' && ch <= '9':
		return 0, 0, errors.New("backreferences are not supported")
	case ch < ' ' || ch >= utf8.RuneSelf || 'a' <= ch|0x20 && ch|0x20 <= 'z' || ch == '<' || ch == '>':
		return 0, 0, fmt.Errorf("unrecognized escape sequence: %.2s", t.in)
	}
	return rune(ch), 2, nil
}

var (
	classHead = regexp.MustCompile(`^\[\^?\]?`)
	namedSet  = regexp.MustCompile(`^\[:\^?[a-z]+:\]`)
	// posixClass is a class that is the same in POSIX, but for its shorthands: ASCII, with nothing escaped, and with "-"
	// where it cannot be mistaken.
	posixClass = regexp.MustCompile(`^\[\^?\]?-?(?:\\[dsw]|[ -,.-Z^-~\t](?:-[ -,.-Z^-~\t])?)*-?\]$`)
	posixForms = strings.NewReplacer(`\d`, "0-9", `\s`, "[:space:]", `\w`, "[:alnum:]_")
)

// class takes [...].
func (t *translator) class() error {
	in, ere, head := t.in, t.ere, classHead.FindString(t.in)
	t.take(len(head), "", head)
	t.inClass = true
	for !strings.HasPrefix(t.in, "]") {
		set := namedSet.FindString(t.in)
		switch {
		case t.in == "":
			return errors.New("unclosed character class")
		case set != "":
			t.take(len(set), "", set)
		case t.in[0] == '[' || slices.Contains([]string{"&&", "--", "~~"}, t.in[:min(2, len(t.in))]):
			return errors.New("this character class is not understood without ripgrep")
		case t.in[0] == '\\':
			if err := t.escape(); err != nil {
				return err
			}
		default:
			t.take(1, "", t.in[:1])
		}
	}
	t.inClass = false
	t.take(1, "", "]")
	class := strings.TrimSuffix(in, t.in)
	t.ere = ere + posixForms.Replace(class)
	t.re2Only = t.re2Only || !posixClass.MatchString(class)
	return nil
}
