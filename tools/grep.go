package tools

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"
)

const grepDescription = `Search files for a regular expression (ripgrep syntax) and return matching lines as path:line:column:text. Hidden files, binaries and what .gitignore names are skipped.

Set context_focus_question when a broad pattern will match a lot and you need some of it, e.g. "where is the retry limit enforced": matches that do not answer it are left out. Do not set it when you need every match, such as all callers to change.

To see what was left out, search again without the question, or narrow it with path or glob. Start with output_mode "files" or "count" on a large tree. Set fixed_string for text with ( [ { . * in it. A result with truncated=true has more matches than max_matches or max_output_bytes let through.`

const grepSchema = `{
  "type": "object",
  "properties": {
    "pattern": {"type": "string", "minLength": 1, "maxLength": 10000, "description": "Regular expression, or literal text with fixed_string."},
    "path": {"type": "string", "minLength": 1, "default": ".", "description": "File or directory to search. Not together with paths."},
    "paths": {"type": "array", "items": {"type": "string", "minLength": 1}, "minItems": 1, "maxItems": 100, "description": "Several files or directories to search."},
    "cwd": {"type": "string", "minLength": 1, "description": "Directory that relative paths start from. Default: the root."},
    "glob": {"type": "string", "minLength": 1, "maxLength": 1000, "description": "Only files that match, e.g. *.go or src/**/*.{ts,tsx}; a leading ! excludes."},
    "fixed_string": {"type": "boolean", "default": false, "description": "Take the pattern literally."},
    "case_sensitive": {"type": "boolean", "default": true, "description": "Tell upper from lower case."},
    "output_mode": {"type": "string", "enum": ["content", "files", "count"], "default": "content", "description": "Matching lines, names of files with a match, or matching lines per file."},
    "context_lines": {"type": "integer", "minimum": 0, "maximum": 50, "default": 0, "description": "Lines to show before and after each match."},
    "max_matches": {"type": "integer", "minimum": 1, "maximum": 5000, "default": 500, "description": "Stop after this many matches (files, when output_mode lists files)."},
    "timeout_ms": {"type": "integer", "minimum": 100, "maximum": 300000, "default": 30000, "description": "Give up after this many milliseconds."},
    "max_output_bytes": {"type": "integer", "minimum": 1024, "maximum": 10485760, "description": "Stop after this many bytes of matching text."},
    "context_focus_question": {"type": "string", "minLength": 1, "maxLength": 1000, "description": "What you need from the matches; those that do not answer it are left out."}
  },
  "required": ["pattern"],
  "additionalProperties": false
}`

const (
	modeContent = "content"
	modeFiles   = "files"
	modeCount   = "count"
)

func newGrep(b *base) Tool {
	return Tool{
		Name:        "grep",
		Description: grepDescription,
		InputSchema: compact(grepSchema),
		ReadOnly:    true,
		Check: func(args map[string]any) (Call, []Issue) {
			return checkGrep(b, args)
		},
	}
}

// grepCall is a checked call of grep.
type grepCall struct {
	base    *base
	search  search
	cwd     string // relative to the root
	timeout int    // ms
	focus   string
}

// search is what to look for and how much of it to keep.
type search struct {
	Pattern    string
	Fixed      bool
	IgnoreCase bool
	Glob       string
	Mode       string
	Context    int // lines around a match
	MaxMatches int
	MaxBytes   int
	Paths      []searchPath
}

// searchPath is one file or directory to search.
type searchPath struct {
	rel  string // relative to the root, cleaned
	show string // the same as results spell it
	real string // relative to the real root, links followed
	dir  bool
}

const (
	maxPatternChars = 10_000
	maxPaths        = 100
	maxMaxMatches   = 5000
	defaultMatches  = 500
)

func checkGrep(b *base, args map[string]any) (Call, []Issue) {
	a := newArguments(args)
	c := &grepCall{base: b}
	s := &c.search
	s.Pattern, _ = a.required("pattern", maxPatternChars)
	cwd, ok := b.cwdArg(a)
	c.cwd = cwd
	s.Paths = b.searchPaths(a, cwd, ok)
	s.Glob, _ = a.optional("glob", maxGlobChars)
	s.Fixed = a.boolean("fixed_string", false)
	s.IgnoreCase = !a.boolean("case_sensitive", true)
	s.Mode = a.oneOf("output_mode", modeContent, modeFiles, modeCount)
	s.Context = a.integer("context_lines", 0, maxContextLines, 0)
	s.MaxMatches = a.integer("max_matches", 1, maxMaxMatches, defaultMatches)
	s.MaxBytes = a.outputCap()
	c.timeout = a.timeout()
	c.focus = a.focus()
	if issues := a.done(); len(issues) > 0 {
		return nil, issues
	}
	return c, nil
}

// searchPaths checks path and paths. Without a usable cwd it cannot be said
// where a relative path leads, so only the other rules apply.
func (b *base) searchPaths(a *arguments, cwd string, cwdOK bool) []searchPath {
	resolve := func(name string, v any) []searchPath {
		p, ok := a.text(name, v, 0)
		if !ok || !cwdOK && !filepath.IsAbs(p) {
			return nil
		}
		rel := b.pathArg(a, name, cwd, p)
		show := filepath.ToSlash(rel)
		if filepath.IsAbs(p) {
			show = filepath.ToSlash(filepath.Clean(p))
		}
		return []searchPath{{rel: rel, show: show}}
	}
	one, single := a.take("path")
	many, several := a.take("paths")
	if single && several {
		a.bad("path", codeCustom)
	}
	if single {
		found := resolve("path", one)
		if !several {
			return found
		}
	}
	if !several {
		return resolve("path", ".")
	}
	list, ok := many.([]any)
	if !ok {
		a.bad("paths", codeType)
		return nil
	}
	switch n := len(list); {
	case n == 0:
		a.bad("paths", codeSmall)
	case n > maxPaths:
		a.bad("paths", codeBig)
	}
	var found []searchPath
	for i, v := range list {
		found = append(found, resolve("paths."+strconv.Itoa(i), v)...)
	}
	return found
}

func (c *grepCall) FocusQuestion() string { return c.focus }

// Repeats: the same search in the same places, whatever is asked of the matches
// and however many are wanted.
func (c *grepCall) Repeats(earlier Call) bool {
	e, ok := earlier.(*grepCall)
	if !ok || !slices.Equal(c.search.Paths, e.search.Paths) || c.cwd != e.cwd {
		return false
	}
	x, y := c.search, e.search
	return x.Pattern == y.Pattern && x.Fixed == y.Fixed && x.IgnoreCase == y.IgnoreCase &&
		x.Glob == y.Glob && x.Mode == y.Mode
}

func (c *grepCall) Run(parent context.Context) (Output, error) {
	start := c.base.Now()
	limit := time.Duration(c.timeout) * time.Millisecond
	ctx, cancel := context.WithTimeoutCause(parent, limit, errTimeout)
	defer cancel()
	out, err := c.run(ctx)
	if parent.Err() != nil {
		return nil, parent.Err()
	}
	if err != nil {
		return nil, c.failed(ctx, err)
	}
	out.Duration = c.base.since(start)
	return out, nil
}

func (c *grepCall) run(ctx context.Context) (*grepOutput, error) {
	dir, err := c.base.directory(c.cwd)
	if err != nil {
		return nil, &Error{Code: "invalid_path", Message: "cwd " + quoted(c.cwd) + ": " + plainReason(err)}
	}
	s := c.search
	if s.Paths, err = c.base.existing(s.Paths); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(c.base.real)
	if err != nil {
		return nil, &Error{Code: "invalid_path", Message: plainReason(err)}
	}
	defer root.Close()
	found := newCollector(ctx, root, s)
	if err := c.base.find(ctx, root, dir, s, found); err != nil && !errors.Is(err, errEnough) {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return found.output(c.search.Paths), nil
}

// existing follows the links of every path and leaves out what is neither file
// nor directory, and what is named twice. The paths are in the order of results.
func (b *base) existing(paths []searchPath) ([]searchPath, error) {
	var found []searchPath
	for _, p := range paths {
		real, err := b.resolve(p.rel)
		var info fs.FileInfo
		if err == nil {
			info, err = os.Stat(filepath.Join(b.real, real))
		}
		if err != nil {
			return nil, &Error{Code: "invalid_path", Message: quoted(p.show) + ": " + plainReason(err)}
		}
		p.real, p.dir = real, info.IsDir()
		twice := slices.ContainsFunc(found, func(f searchPath) bool { return f.real == real })
		if !twice && (p.dir || info.Mode().IsRegular()) {
			found = append(found, p)
		}
	}
	slices.SortFunc(found, func(x, y searchPath) int { return byName(x.prefix(), y.prefix()) })
	return found, nil
}

// prefix is what the paths of all results below begin with.
func (p searchPath) prefix() string {
	if p.show == "." {
		return ""
	}
	return p.show
}

// engineError is what rg or grep complained of.
type engineError struct {
	code    int
	message string
}

func (e *engineError) Error() string { return e.message }

func (c *grepCall) failed(ctx context.Context, err error) error {
	var tool *Error
	var engine *engineError
	switch {
	case errors.As(err, &tool):
		return tool
	case errors.Is(context.Cause(ctx), errTimeout):
		return &Error{Code: "timeout", Message: fmt.Sprintf("search was stopped after %d ms", c.timeout), TimeoutMS: c.timeout}
	case errors.As(err, &engine):
		return &Error{Code: "rg_error", Message: engine.message, ExitCode: &engine.code}
	}
	return &Error{Code: "spawn_error", Message: "cannot start rg or grep: " + plainReason(err)}
}

// find runs the search with rg, or with the system's grep where there is no rg.
func (b *base) find(ctx context.Context, root *os.Root, dir string, s search, found *collector) error {
	err := b.findWithRg(ctx, dir, s, found)
	var spawn *spawnError
	if errors.As(err, &spawn) && isUnusable(spawn.err) {
		return b.findWithGrep(ctx, root, dir, s, found)
	}
	return err
}
