package grep

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/mcp-pruner/mcp-pruner/tools/files"
)

// The ignore files of a directory, in order of precedence. .gitignore and git's own exclude
// file apply only inside a repository.
const (
	fromRgignore = iota
	fromIgnore
	fromGitignore
	fromExclude
	ignoreSources
)

// ignoreLevel holds the ignore rules of one directory for everything below it.
type ignoreLevel struct {
	dir   string
	rules [ignoreSources][]*ignoreRule
	git   bool // it is the top directory of a repository
	above *ignoreLevel
}

// levelsAbove reads the ignore files of all directories above dir, up to the root of the
// file system: the rules apply wherever a search begins, as in git.
func levelsAbove(dir string) *ignoreLevel {
	parent := filepath.Dir(dir)
	if parent == dir {
		return nil
	}
	return newIgnoreLevel(parent, levelsAbove(parent), nil)
}

// newIgnoreLevel reads a directory's ignore files. entries, if known, saves attempts to
// open files that do not exist.
func newIgnoreLevel(dir string, above *ignoreLevel, entries []os.DirEntry) *ignoreLevel {
	has := func(name string) bool {
		return entries == nil || slices.ContainsFunc(entries, func(e os.DirEntry) bool { return e.Name() == name })
	}
	l := &ignoreLevel{dir: dir, above: above}
	for source, name := range []string{".rgignore", ".ignore", ".gitignore"} {
		if has(name) {
			l.rules[source] = readIgnore(filepath.Join(dir, name))
		}
	}
	if has(".git") {
		_, err := os.Stat(filepath.Join(dir, ".git"))
		l.git = err == nil
	}
	if l.git {
		l.rules[fromExclude] = readIgnore(filepath.Join(dir, ".git", "info", "exclude"))
	}
	return l
}

const (
	undecided = iota
	ignored
	allowed
)

// verdict asks the kinds of ignore files in order of precedence, and for each kind the
// nearest directory with a matching rule.
func (l *ignoreLevel) verdict(path string, dir bool) int {
	repository := false
	for at := l; at != nil; at = at.above {
		repository = repository || at.git
	}
	for source := range ignoreSources {
		git := source >= fromGitignore
		if git && !repository {
			break
		}
		for at := l; at != nil; at = at.above {
			if v := lastMatch(at.rules[source], at.dir, path, dir); v != undecided {
				return v
			}
			if git && at.git {
				break // directories above belong to another repository
			}
		}
	}
	return undecided
}

// lastMatch returns the verdict of the last matching rule of one file.
func lastMatch(rules []*ignoreRule, base, path string, dir bool) int {
	for _, r := range slices.Backward(rules) {
		if r.matches(base, path, dir) {
			if r.negated {
				return allowed
			}
			return ignored
		}
	}
	return undecided
}

type ignoreRule struct {
	pattern string // doublestar pattern, relative to the file's directory
	negated bool
	dirOnly bool
}

// maxIgnoreFile bounds the size of an ignore file, in bytes.
const maxIgnoreFile = 1 << 20

func readIgnore(path string) []*ignoreRule {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxIgnoreFile {
		return nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	var rules []*ignoreRule
	for line := range strings.Lines(strings.TrimPrefix(string(text), "\ufeff")) {
		if r := parseIgnore(ignoreLine(strings.TrimRight(line, "\r\n"))); r != nil && doublestar.ValidatePattern(r.pattern) {
			rules = append(rules, r)
		}
	}
	return rules
}

// ignoreLine returns the content of a line: "" for a comment, and without white space at
// the end unless a backslash escapes it.
func ignoreLine(line string) string {
	switch {
	case strings.HasPrefix(line, "#"):
		return ""
	case strings.HasSuffix(line, `\ `):
		return line
	}
	return strings.TrimRightFunc(line, unicode.IsSpace)
}

// parseIgnore parses one pattern. It returns nil if the line has none.
func parseIgnore(line string) *ignoreRule {
	r := &ignoreRule{}
	line, r.negated = strings.CutPrefix(line, "!")
	if !r.negated && (strings.HasPrefix(line, `\!`) || strings.HasPrefix(line, `\#`)) {
		line = line[1:]
	}
	line, r.dirOnly = strings.CutSuffix(line, "/")
	if line == "" {
		return nil
	}
	anchored := strings.Contains(line, "/")
	line = strings.TrimPrefix(line, "/")
	if !anchored && line != "**" {
		line = "**/" + line
	}
	if strings.HasSuffix(line, "/**") {
		line += "/*" // the content of the directory, not the directory itself
	}
	r.pattern = line
	return r
}

// matches reports whether the rule of a file in directory base matches path.
func (r *ignoreRule) matches(base, path string, dir bool) bool {
	if r.dirOnly && !dir {
		return false
	}
	rel, err := filepath.Rel(base, path)
	if err != nil || !files.Local(rel) {
		rel = filepath.Base(path)
	}
	ok, _ := doublestar.Match(r.pattern, filepath.ToSlash(rel))
	return ok
}
