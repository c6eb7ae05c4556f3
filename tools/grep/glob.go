package grep

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/mcp-pruner/mcp-pruner/tools/files"
)

// globFilter narrows a search to the files that a glob matches or, for a glob with a
// leading "!", to those it does not match. Unlike rg's --glob, it never adds hidden or
// ignored files, unless the glob itself names something hidden.
type globFilter struct {
	line  string // the glob as a line of an ignore file, without "!"
	rule  *ignoreRule
	show  []*ignoreRule // hidden names that the glob contains
	shown []string      // the same, as lines of an ignore file
}

// newGlobFilter parses a glob. It returns nil if the glob excludes nothing.
func newGlobFilter(glob string) *globFilter {
	line := ignoreLine(glob) // rg treats a glob as a line of an ignore file
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

// check reports an error if the fallback does not support the glob.
func (f *globFilter) check(glob string) error {
	if f != nil && !doublestar.ValidatePattern(f.rule.pattern) {
		return fmt.Errorf("glob %q cannot be understood", files.Quoted(glob))
	}
	return nil
}

// wants reports whether the glob includes a file. A glob that only rg supports includes all
// files.
func (f *globFilter) wants(base, path string) bool {
	if f == nil || !doublestar.ValidatePattern(f.rule.pattern) {
		return true
	}
	return f.rule.matches(base, path, false) != f.rule.negated
}

// unhides reports whether the glob names this hidden file or directory.
func (f *globFilter) unhides(base, path string, dir bool) bool {
	return f != nil && slices.ContainsFunc(f.show, func(r *ignoreRule) bool { return r.matches(base, path, dir) })
}

// ignoreFile returns an ignore file that leaves only the files the glob matches. In rg,
// other ignore files take precedence over one given on the command line.
func (f *globFilter) ignoreFile(dir string) string {
	lines := []string{"*", "!*/"}
	lines = append(lines, unignored(dir, f.line)...)
	lines = append(lines, ".*")
	for _, shown := range f.shown {
		lines = append(lines, unignored(dir, shown)...)
	}
	return strings.Join(lines, "\n") + "\n"
}

// unignored returns the line that includes a pattern again. A pattern with a slash is
// relative to dir. In an ignore file given on the command line, rg up to version 14
// resolves such patterns from the root of the file system, and later versions from its
// working directory.
func unignored(dir, pattern string) []string {
	pattern = strings.ReplaceAll(pattern, "\n", "?") // a line cannot contain a line feed
	if !strings.Contains(strings.TrimSuffix(pattern, "/"), "/") {
		return []string{"!" + pattern}
	}
	pattern = "/" + strings.TrimPrefix(pattern, "/")
	return []string{"!" + pattern, "!" + escapeGlob(filepath.ToSlash(dir)) + pattern}
}

var globEscapes = strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`, "]", `\]`, "{", `\{`, "}", `\}`)

func escapeGlob(path string) string { return strings.TrimSuffix(globEscapes.Replace(path), "/") }
