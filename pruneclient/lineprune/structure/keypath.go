package structure

import (
	"strings"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/doc"
)

// LinesAt returns the lines of nested keys at a path: "limits.memory" is a key memory below a key limits.
// The path may leave out keys in between.
func LinesAt(d *doc.Document, o Outline, path []string) []int {
	last := path[len(path)-1]
	var lines []int
	for i := range d.Lines {
		if d.Blank(i) || !strings.Contains(d.Lines[i], last) {
			continue
		}
		names := keyNames(d.Lines[i])
		if len(names) > 0 && names[len(names)-1] == last && below(d, o, i, names, path[:len(path)-1]) {
			lines = append(lines, i)
		}
	}
	return lines
}

// below reports whether the enclosing keys of line i, and all of its own except the last, contain the path
// in order.
func below(d *doc.Document, o Outline, i int, names, path []string) bool {
	path = without(path, names[:len(names)-1])
	u := o.Of[i]
	if u >= 0 && o.Units[u].Head == i {
		u = int32(o.Units[u].Parent)
	}
	for ; u >= 0 && len(path) > 0; u = int32(o.Units[u].Parent) {
		path = without(path, keyNames(d.Lines[o.Units[u].Head]))
	}
	return len(path) == 0
}

// without removes names from the end of a path, innermost first.
func without(path, names []string) []string {
	for k := len(names) - 1; k >= 0 && len(path) > 0; k-- {
		if names[k] == path[len(path)-1] {
			path = path[:len(path)-1]
		}
	}
	return path
}

// keyNames returns the key at the start of a line, or the parts of a TOML section's name.
func keyNames(line string) []string {
	t := strings.TrimLeft(line, " \t-<")
	switch {
	case t == "":
		return nil
	case t[0] == '"':
		name, rest, _ := strings.Cut(t[1:], `"`)
		if strings.HasPrefix(strings.TrimLeft(rest, " "), ":") {
			return []string{name}
		}
		return nil
	case isSection(t):
		return strings.Split(strings.Trim(strings.TrimRight(t, " \r"), "[]"), ".")
	}
	end := 0
	for end < len(t) && (doc.InWord(doc.ByteClass[t[end]]) || strings.IndexByte("-./", t[end]) >= 0) {
		end++
	}
	if end == 0 {
		return nil
	}
	return []string{t[:end]}
}
