package structure

import (
	"strings"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/doc"
)

// Opening is the first line of something that a reader may look for: a declaration, a section, a record.
type Opening struct {
	Line, End int     // its first line and its last one, from 1
	Keyword   string  // of a declaration, such as func; "" for none
	Name      string  // without characters that have a meaning in JSON or YAML
	Depth     int     // of nesting
	Score     float64 // relevance to a question
}

// Openings returns the units of a text that have a name, in the order of their lines. name returns the keyword and the name of
// the unit that begins on a line, or no name.
func (o Outline) Openings(d *doc.Document, name func(line string) (keyword, name string)) (list []Opening) {
	depths := make([]int, len(o.Units))
	for i, u := range o.Units {
		if u.Parent >= 0 {
			depths[i] = depths[u.Parent] + 1
		}
		if u.Head < 0 {
			continue
		}
		keyword, name := name(d.Lines[u.Head])
		if name = plain(name); name != "" {
			list = append(list, Opening{Line: u.Head + 1, End: u.End, Keyword: keyword, Name: name, Depth: depths[i]})
		}
	}
	return list
}

// Declared returns the keyword and the name of the declaration that a line opens: "func", "Close". A function that is declared
// without a keyword has its parentheses in its name.
func Declared(line string) (keyword, name string) {
	line = strings.TrimSpace(line)
	if bare := strings.TrimSpace(strings.TrimLeft(line, "0123456789")); bare != line { // nl and cat -n number lines
		if line = bare; !IsDefinition(line, nil) {
			return "", ""
		}
	}
	name = DefinedName(line)
	if strings.Trim(name, "_") == "" || defWords()[name] || NotCalls()[name] {
		return "", ""
	}
	line = undecorated(line)
	switch keyword = keywordOf(line); keyword {
	case "":
	case "package", "module":
		return "", ""
	default:
		return keyword, name
	}
	head, rest, called := strings.Cut(line, "(")
	switch {
	case !called:
		return "", name
	case !strings.Contains(head, "=") && isCall(rest):
		return "", ""
	}
	return "", name + "()"
}

// isCall reports whether the text after the first parenthesis of a line is that of a call rather than of a declaration: the
// parenthesis encloses a block, as in it("adds", () => {, or its value is used, as in expect(x).toEqual({.
func isCall(rest string) bool {
	depth := 1
	for i, r := range rest {
		switch r {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				after := strings.TrimSpace(rest[i+1:])
				return after != "" && strings.IndexByte(".,;)<>=!+*/&|?]", after[0]) >= 0
			}
		}
	}
	return strings.HasSuffix(strings.TrimSpace(rest), "{")
}

func keywordOf(line string) string {
	if createStatement(line) != "" {
		return ""
	}
	word, rest := FirstWord(line)
	if haskellType(line) != "" {
		return word
	}
	for ; word != ""; word, rest = FirstWord(rest) {
		if defWords()[word] {
			return word
		}
		if !modifiers()[word] {
			return ""
		}
		if after, ok := strings.CutPrefix(rest, "("); ok { // pub(crate)
			_, rest, _ = strings.Cut(after, ")")
			rest = unindented(rest)
		}
	}
	return ""
}

// HeadingText returns the text of a heading of a page, without its marks. It has no keyword.
func HeadingText(line string) (keyword, text string) {
	line = untagged(line)
	if command, rest, ok := strings.Cut(line, "{"); ok && strings.HasPrefix(command, "\\") {
		line, _, _ = strings.Cut(rest, "}")
	}
	line = strings.TrimPrefix(strings.TrimPrefix(line, ".SH"), ".SS")
	line = strings.Trim(line, " \t=#*_-~^:<>+")
	if number, text, ok := strings.Cut(line, ". "); ok && strings.Trim(number, "0123456789.") == "" {
		line = text
	}
	return "", line
}

// untagged returns a line with a space in place of each tag.
func untagged(line string) string {
	var out strings.Builder
	for {
		before, tag, opened := strings.Cut(line, "<")
		_, after, closed := strings.Cut(tag, ">")
		if !opened || !closed {
			return out.String() + line
		}
		out.WriteString(before + " ")
		line = after
	}
}

// KeyText returns the key, or the section, that a line of nested keys opens. It has no keyword.
func KeyText(line string) (keyword, text string) {
	text = strings.TrimSpace(line)
	if isSection(text) {
		return "", strings.Trim(text, "[]")
	}
	text = strings.TrimPrefix(text, "- ")
	if rest, ok := strings.CutPrefix(text, "<"); ok {
		text, _ = FirstWord(rest)
		return "", text
	}
	end := strings.IndexAny(text, ":=")
	if end < 0 {
		return "", ""
	}
	return "", strings.Trim(text[:end], ` "'`)
}

// longestName is the length in bytes of the longest name of an opening.
const longestName = 80

// plain returns a name without control characters, quotes and other signs that have a meaning in JSON and YAML, or "" for one
// that no letter is in or that is too long to name anything.
func plain(name string) string {
	name = strings.ToValidUTF8(name, "")
	name = strings.Map(func(r rune) rune {
		switch {
		case r == '"', r == '\\', r == '`', r == '\u2028', r == '\u2029', r == '\u0085', r == '⟦', r == '⟧', r < ' ', r == 0x7f:
			return -1
		}
		return r
	}, name)
	if name = strings.TrimSpace(name); len(name) > longestName || !doc.HasLetter(name) {
		return ""
	}
	return name
}

// Openings returns the records of a text, by the fields that identify them, and in nested data also the keys outside of them
// that have something below them.
func (d *Data) Openings(text *doc.Document, o Outline) []Opening {
	switch d.Form {
	case JSON, YAML:
		return d.nested(text, o)
	case Rows:
		return d.rows(text)
	}
	return nil
}

func (d *Data) nested(text *doc.Document, o Outline) []Opening {
	byLine := map[int]Opening{}
	depths := make([]int, len(d.Parts))
	inside := make([]bool, len(d.Parts))
	for i, p := range d.Parts {
		if p.Parent >= 0 {
			depths[i] = depths[p.Parent] + 1
			inside[i] = inside[p.Parent] || d.Parts[p.Parent].Record
		}
		if !p.Record {
			continue
		}
		if name := plain(d.identity(text, p)); name != "" && !inside[i] {
			byLine[p.Start+1] = Opening{Line: p.Start + 1, End: p.End, Name: name, Depth: depths[i]}
		}
	}
	for _, k := range o.Openings(text, KeyText) {
		at := d.Of[k.Line-1]
		if _, known := byLine[k.Line]; known || at >= 0 && (inside[at] || d.Parts[at].Record) {
			continue
		}
		byLine[k.Line] = k
	}
	list := make([]Opening, 0, len(byLine))
	for line := range text.Lines {
		if o, ok := byLine[line+1]; ok {
			list = append(list, o)
		}
	}
	return list
}

// identity returns what tells a record from the others: the value of the first field with a letter that identifies it, or its
// key.
func (d *Data) identity(text *doc.Document, p Part) string {
	for _, line := range p.Stays {
		t := strings.TrimPrefix(strings.TrimSpace(text.Lines[line]), "- ")
		key, value, ok := strings.Cut(t, ":")
		value = strings.Trim(value, ` ,"'`)
		if ok && identifies(strings.Trim(key, `"' `)) && doc.HasLetter(value) && !strings.ContainsAny(value, "{[") {
			return value
		}
	}
	_, key := KeyText(text.Lines[p.Start])
	return key
}

// rows names each row by its first cell.
func (d *Data) rows(text *doc.Document) (list []Opening) {
	for _, i := range d.recordAt {
		line := strings.TrimLeft(text.Lines[i], " |")
		end := strings.IndexAny(line, ",|\t;")
		if gap := strings.Index(line, "  "); gap >= 0 && (end < 0 || gap < end) {
			end = gap
		}
		if end <= 0 || !doc.Letter(line[0]) {
			continue
		}
		if name := plain(line[:end]); name != "" {
			list = append(list, Opening{Line: int(i) + 1, End: int(i) + 1, Name: name})
		}
	}
	return list
}
