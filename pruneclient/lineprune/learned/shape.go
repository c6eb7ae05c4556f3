package learned

import (
	"path"
	"strings"
)

// shape describes a line independently of the question.
type shape struct {
	indent  int32 // columns, -1 on a blank line
	what    int32 // the kind of statement
	path    string
	number  int    // line number in its file, 0 if unknown
	content string // without the path and number of a match
	block   int32  // index of the line's block
	copies  int32  // number of lines that differ from it at most in digits
}

const (
	plain int32 = iota
	blank
	comment
	imports
	definition
	closing
	heading
	failure
	returns
	assign
)

// maxShown is the number of bytes of a line that are examined.
const maxShown = 1000

// shapesOf computes the shape of every line in one pass.
func shapesOf(in *Input) []shape {
	shapes := make([]shape, len(in.Lines))
	copies := make(map[uint64]int32, len(in.Lines))
	keys := make([]uint64, len(in.Lines))
	first := max(in.FirstLine, 1)
	block, above := int32(-1), blank
	for i, line := range in.Lines {
		line = line[:min(len(line), maxShown)]
		s := &shapes[i]
		s.content = line
		if in.Kind == Grep || in.Tool == "" || in.Command != "" {
			s.path, s.number, s.content = placeOf(line)
		}
		if s.path == "" && in.File != "" {
			s.number = first + i
		}
		t := strings.TrimSpace(s.content)
		s.indent = indentOf(s.content)
		s.what = statement(t)
		if startsBlock(shapes, i, above, in.Kind) {
			block++
		}
		s.block, above = max(block, 0), s.what
		keys[i] = maskedHash(t)
		copies[keys[i]]++
	}
	for i := range shapes {
		shapes[i].copies = copies[keys[i]]
	}
	return shapes
}

// startsBlock reports whether line i starts a block: a new file in a list of matches, a shallow line after
// a blank one, a definition or a heading.
func startsBlock(shapes []shape, i int, above int32, kind Kind) bool {
	s := &shapes[i]
	switch {
	case i == 0:
		return true
	case s.path != shapes[i-1].path:
		return true
	case kind == Grep:
		return false
	case s.what == heading:
		return true
	case kind == Logs:
		return above == blank && s.what != blank
	case s.what == definition:
		return above != comment
	}
	return above == blank && s.what != blank && s.indent <= 4 && s.what != closing
}

// placeOf splits path:number: or path- off a match.
func placeOf(line string) (file string, number int, content string) {
	end := 0
	for end < len(line) && end < 200 && (class[line[end]] >= lower || strings.IndexByte("/.-+@", line[end]) >= 0) {
		end++
	}
	if end == len(line) || end == 0 || line[end] != ':' {
		return placeOfContext(line)
	}
	if n, digits := leadingNumber(line); digits == end {
		return "", n, line[end+1:]
	}
	file = line[:end]
	if strings.IndexByte(file, '.') < 0 && strings.IndexByte(file, '/') < 0 {
		return "", 0, line
	}
	content = line[end+1:]
	if n, digits := leadingNumber(content); digits > 0 && digits < len(content) && content[digits] == ':' {
		return file, n, content[digits+1:]
	}
	return file, 0, content
}

// placeOfContext splits the line number off a context line of grep, or a line of cat -n.
func placeOfContext(line string) (string, int, string) {
	t := strings.TrimLeft(line, " ")
	n, digits := leadingNumber(t)
	if digits == 0 || digits == len(t) {
		return "", 0, line
	}
	switch t[digits] {
	case '-', '\t':
		return "", n, t[digits+1:]
	}
	return "", 0, line
}

func indentOf(line string) int32 {
	col := int32(0)
	for i := 0; i < len(line) && col < 200; i++ {
		switch line[i] {
		case ' ':
			col++
		case '\t':
			col += 4
		case '\r':
		default:
			return col
		}
	}
	return -1
}

// statement classifies a trimmed line by how it begins.
func statement(t string) int32 {
	switch {
	case t == "":
		return blank
	case strings.HasPrefix(t, "# ") || strings.HasPrefix(t, "## ") || strings.HasPrefix(t, "### "):
		return heading
	case strings.HasPrefix(t, "//"), t[0] == '#', strings.HasPrefix(t, "/*"), strings.HasPrefix(t, "* "), strings.HasPrefix(t, `"""`):
		return comment
	case len(t) <= 3 && strings.Trim(t, "{}()[];,") == "":
		return closing
	}
	word := t
	if cut := strings.IndexAny(t, " (:"); cut > 0 {
		word = t[:cut]
	}
	switch word {
	case "import", "from", "#include", "use", "package", "require":
		return imports
	case "def", "func", "class", "type", "fn", "function", "struct", "interface", "async", "public", "private", "export", "static":
		return definition
	case "return", "raise", "throw", "panic":
		return returns
	case "Error", "ERROR", "FAIL", "FAILED", "error", "Traceback", "E", "panic:", "---", "AssertionError", "fatal":
		return failure
	}
	if strings.Contains(t, "Error:") || strings.Contains(t, "FAIL") {
		return failure
	}
	if strings.Contains(t, " = ") || strings.Contains(t, " := ") {
		return assign
	}
	return plain
}

// maskedHash returns a hash that ignores the values of digits.
func maskedHash(t string) uint64 {
	h := uint64(14695981039346656037)
	for i := 0; i < len(t); i++ {
		c := t[i]
		if class[c] == digit {
			if i > 0 && class[t[i-1]] == digit {
				continue
			}
			c = '0'
		}
		h = (h ^ uint64(c)) * 1099511628211
	}
	return h
}

func isTest(p string) bool {
	return strings.Contains(path.Base(p), "test") || strings.Contains(p, "tests/")
}
