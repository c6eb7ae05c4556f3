package tools

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"mcp-pruner/tools/files"
	"mcp-pruner/tools/grep"
	"mcp-pruner/tools/process"
)

const grepDescription = `Search files for a regular expression (ripgrep): lines as path:line:column:text. Skips hidden, binary and .gitignored files. With context_focus_question ("where is the retry limit enforced") matches that do not answer it are left out: ask when a broad pattern matches much, not when every match is needed.`

const grepSchema = `{
  "type": "object",
  "properties": {
    "pattern": {"type": "string"},
    "path": {"type": "string", "default": "."},
    "paths": {"type": "array", "items": {"type": "string"}, "description": "Instead of path."},
    "cwd": {"type": "string"},
    "glob": {"type": "string", "description": "e.g. src/**/*.{ts,tsx}; ! excludes"},
    "fixed_string": {"type": "boolean", "default": false},
    "case_sensitive": {"type": "boolean", "default": true},
    "output_mode": {"type": "string", "enum": ["content", "files", "count"], "default": "content"},
    "context_lines": {"type": "integer", "minimum": 0, "maximum": 50},
    "max_matches": {"type": "integer", "minimum": 1, "maximum": 5000, "default": 500},
    "timeout_ms": {"type": "integer", "minimum": 100, "maximum": 300000, "default": 30000},
    "max_output_bytes": {"type": "integer", "minimum": 1024},
    "context_focus_question": {"type": "string", "maxLength": 1000}
  },
  "required": ["pattern"],
  "additionalProperties": false
}`

func newGrep(b *base) Tool {
	return Tool{
		Name:        "grep",
		Root:        b.root.Given(),
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
	search  grep.Search
	cwd     string // relative to the root
	timeout int    // ms
	focus   string

	explicit bool // the call says how much it wants
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
	s.Mode = a.oneOf("output_mode", grep.Content, grep.Files, grep.Counts)
	s.Context = a.integer("context_lines", 0, maxContextLines, 0)
	c.focus = a.focus()
	matches := defaultMatches
	if c.focus != "" { // what answers it may be anywhere
		matches = maxMaxMatches
	}
	s.MaxMatches = a.integer("max_matches", 1, maxMaxMatches, matches)
	s.MaxBytes = a.outputCap()
	c.explicit = a.has("max_output_bytes")
	c.timeout = a.timeout(maxTimeoutMS, defaultTimeout)
	if issues := a.done(); len(issues) > 0 {
		return nil, issues
	}
	return c, nil
}

// searchPaths checks path and paths. Without a usable cwd it cannot be said
// where a relative path leads, so only the other rules apply.
func (b *base) searchPaths(a *arguments, cwd string, cwdOK bool) []grep.Path {
	resolve := func(name string, v any) []grep.Path {
		p, ok := a.text(name, v, 0)
		if !ok || !cwdOK && !filepath.IsAbs(p) {
			return nil
		}
		rel := b.pathArg(a, name, cwd, p)
		show := filepath.ToSlash(rel)
		if filepath.IsAbs(p) {
			show = filepath.ToSlash(filepath.Clean(p))
		}
		return []grep.Path{{Rel: rel, Show: show}}
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
	var found []grep.Path
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
	ctx, cancel := context.WithTimeoutCause(parent, limit, process.ErrTimeout)
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
	dir, err := c.base.root.Directory(c.cwd)
	if err != nil {
		return nil, &Error{Code: "invalid_path", Message: "cwd " + files.Quoted(c.cwd) + ": " + files.PlainReason(err)}
	}
	engine := grep.Engine{Root: c.base.root, LookPath: c.base.LookPath, Env: c.base.engineEnv}
	found, err := engine.Run(ctx, dir, c.search)
	if err != nil {
		return nil, err
	}
	out := newGrepOutput(c.search, found)
	out.explicit = c.explicit
	return out, nil
}

func (c *grepCall) failed(ctx context.Context, err error) error {
	var tool *Error
	var path *grep.InvalidPath
	var engine *grep.Failure
	switch {
	case errors.As(err, &tool):
		return tool
	case errors.Is(context.Cause(ctx), process.ErrTimeout):
		return &Error{Code: "timeout", Message: fmt.Sprintf("search was stopped after %d ms", c.timeout), TimeoutMS: c.timeout}
	case errors.As(err, &path):
		return &Error{Code: "invalid_path", Message: path.Error()}
	case errors.As(err, &engine):
		return &Error{Code: "rg_error", Message: engine.Message, ExitCode: &engine.ExitCode}
	}
	return &Error{Code: "spawn_error", Message: "cannot start rg or grep: " + files.PlainReason(err)}
}

// engineEnv is the environment rg and grep run in: without what would change
// their output, and with a locale in which characters are UTF-8.
func (b *base) engineEnv() []string {
	env := slices.DeleteFunc(slices.Clone(b.Env()), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return Secret(name) || strings.HasPrefix(name, "GREP_") || strings.HasPrefix(name, "LC_") ||
			name == "RIPGREP_CONFIG_PATH" || name == "LANG"
	})
	locale := "C.UTF-8"
	if runtime.GOOS == "darwin" {
		locale = "en_US.UTF-8"
	}
	return append(env, "LC_ALL="+locale)
}
