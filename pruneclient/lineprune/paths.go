package lineprune

import "strings"

// grepPlace is the place a match names, the zero one when it names none.
func grepPlace(line string) place {
	path, rest, ok := grepLine(line)
	if !ok {
		return place{}
	}
	p := place{path: path, content: len(line) - len(rest)}
	for _, c := range []byte(line[len(path)+1 : p.content-1]) {
		p.number = min(p.number*10+int(c-'0'), 1<<30)
	}
	return p
}

// isTestPath knows where the languages here keep their tests.
func isTestPath(path string) bool {
	p := strings.ToLower(path)
	for _, mark := range []string{"test/", "tests/", "testdata/", "spec/", "__tests__/", "_test.", "test_", ".test.", ".spec.", "regress", "fixtures/", "tests."} {
		if strings.Contains(p, mark) {
			return true
		}
	}
	return false
}

// isProsePath is true of documentation, change logs and data.
func isProsePath(path string) bool {
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
