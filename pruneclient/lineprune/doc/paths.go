package doc

import "strings"

// Locate parses the place of every line in a list of matches. With bare set, each line is a path, which
// serves as both the place and the matched text.
func (d *Document) Locate(bare bool) {
	d.Places = make([]place, len(d.Lines))
	found := 0
	for i, line := range d.Lines {
		if bare {
			d.Places[i] = place{Path: line}
		} else if d.Places[i] = grepPlace(line); d.Places[i].Path != "" {
			found++
		}
	}
	if bare || found*2 > len(d.Lines) {
		return
	}
	if h := ReadHeaded(d, len(d.Lines)); h.found() {
		d.Places, d.Heads = h.places, h.heads
	}
}

// grepPlace returns the place that a match names, or the zero place if it names none.
func grepPlace(line string) place {
	path, rest, ok := GrepLine(line)
	if !ok {
		return place{}
	}
	p := place{Path: path, content: len(line) - len(rest)}
	for _, c := range []byte(line[len(path)+1 : p.content-1]) {
		p.Number = min(p.Number*10+int(c-'0'), 1<<30)
	}
	return p
}

// Context reports whether line i of a list of matches is one that the search put before or after a match: a mark other
// than a colon follows its number.
func (d *Document) Context(i int) bool {
	p := d.Places[i]
	return p.Number > 0 && d.Lines[i][p.content-1] != ':'
}

// IsTestPath reports whether a path follows the naming conventions for tests in the supported languages.
func IsTestPath(path string) bool {
	p := strings.ToLower(path)
	for _, mark := range []string{"test/", "tests/", "testdata/", "spec/", "__tests__/", "_test.", "test_", ".test.", ".spec.", "regress", "fixtures/", "tests."} {
		if strings.Contains(p, mark) {
			return true
		}
	}
	return false
}

// IsProsePath reports whether a path is documentation, a change log or data.
func IsProsePath(path string) bool {
	p := strings.ToLower(path)
	for _, mark := range []string{"changelog", "readme", "docs/", "doc/", "changes", "history"} {
		if strings.Contains(p, mark) {
			return true
		}
	}
	dot := strings.LastIndexByte(p, '.')
	switch p[dot+1:] {
	case "md", "mdx", "rst", "txt", "adoc", "html", "css", "1", "json", "yml", "yaml", "toml", "lock", "cfg", "ini", "svg", "po":
		return true
	}
	return false
}
