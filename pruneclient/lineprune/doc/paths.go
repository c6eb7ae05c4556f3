package doc

import "strings"

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
