package grep

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"mcp-pruner/tools/files"
)

// globFilter narrows a search to the files a glob matches, or without those that a
// glob with a leading ! matches. Unlike rg's --glob it never brings in what is
// hidden or ignored, unless the glob itself names something hidden.
type globFilter struct {
	line  string // the glob as a line of an ignore file, without !
	rule  *ignoreRule
	show  []*ignoreRule // hidden names that the glob spells out
	shown []string      // the same as lines
}

// newGlobFilter reads a glob; nil when it excludes nothing.
func newGlobFilter(glob string) *globFilter {
	line := ignoreLine(glob) // to rg a glob is a line of an ignore file
	rule := parseIgnore(line)
	if rule == nil {
		return nil
	}
	bare := strings.TrimPrefix(line, "!")
	if everything := strings.TrimPrefix(bare, "/"); !rule.negated && (everything == "*" || everything == "**" || everything == "**/*") {
		return nil
	}
	f := &globFilter{line: bare, rule: rule}
	if rule.negated {
		return f
	}
	names := strings.Split(bare, "/")
	for i, name := range names {
		if !strings.HasPrefix(name, ".") || name == "." || name == ".." {
			continue
		}
		shown := strings.Join(names[:i+1], "/")
		if i < len(names)-1 {
			shown += "/"
		}
		f.shown = append(f.shown, shown)
		f.show = append(f.show, parseIgnore(shown))
	}
	return f
}

// check says whether the fallback understands the glob.
func (f *globFilter) check(glob string) error {
	if f != nil && !doublestar.ValidatePattern(f.rule.pattern) {
		return fmt.Errorf("glob %q cannot be understood", files.Quoted(glob))
	}
	return nil
}

// wants says whether the glob lets a file through. What only rg understands does.
func (f *globFilter) wants(base, path string) bool {
	if f == nil || !doublestar.ValidatePattern(f.rule.pattern) {
		return true
	}
	return f.rule.matches(base, path, false) != f.rule.negated
}

// unhides says whether the glob spells out this hidden name.
func (f *globFilter) unhides(base, path string, dir bool) bool {
	if f == nil {
		return false
	}
	for _, r := range f.show {
		if r.matches(base, path, dir) {
			return true
		}
	}
	return false
}

// ignoreFile is an ignore file that leaves only what the glob matches. rg lets
// other ignore files win over one that is named on its command line.
func (f *globFilter) ignoreFile(dir string) string {
	lines := []string{"*", "!*/"}
	lines = append(lines, unignored(dir, f.line)...)
	lines = append(lines, ".*")
	for _, shown := range f.shown {
		lines = append(lines, unignored(dir, shown)...)
	}
	return strings.Join(lines, "\n") + "\n"
}

// unignored is the line that lets a pattern through. A pattern with a slash is
// relative to dir; up to version 14 rg takes those of a named ignore file relative
// to the top of the file system, later ones relative to its working directory.
func unignored(dir, pattern string) []string {
	pattern = strings.ReplaceAll(pattern, "\n", "?") // a line cannot hold one
	if !strings.Contains(strings.TrimSuffix(pattern, "/"), "/") {
		return []string{"!" + pattern}
	}
	pattern = "/" + strings.TrimPrefix(pattern, "/")
	return []string{"!" + pattern, "!" + escapeGlob(filepath.ToSlash(dir)) + pattern}
}

var globEscapes = strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`, "]", `\]`, "{", `\{`, "}", `\}`)

func escapeGlob(path string) string { return strings.TrimSuffix(globEscapes.Replace(path), "/") }
