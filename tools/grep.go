package tools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mcp-pruner/mcp-pruner/tools/files"
	"github.com/mcp-pruner/mcp-pruner/tools/grep"
	"github.com/mcp-pruner/mcp-pruner/tools/process"
	"github.com/mcp-pruner/mcp-pruner/tools/schema"
)

const grepDescription = `Search files for a regular expression (ripgrep): lines as path:line:column:text. Skips hidden, binary and .gitignored files. With context_focus_question ("where is the retry limit enforced") matches that do not answer it are left out: ask when a broad pattern matches much, not when every match is needed.`

const grepSchema = `{
  "type": "object",
  "properties": {
    "pattern": {"type": "string"},
    "path": {"type": "string", "default": ".", "description": "Or prn_ id."},
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

// grepLimits are the checks beyond the schema.
const grepLimits = `{"properties": {
  "pattern": {"minLength": 1, "maxLength": 10000, "not": {"pattern": "\u0000"}},
  "path": {"minLength": 1, "not": {"pattern": "\u0000"}},
  "paths": {"minItems": 1, "maxItems": 100, "items": {"minLength": 1, "not": {"pattern": "\u0000"}}},
  "cwd": {"minLength": 1, "not": {"pattern": "\u0000"}},
  "glob": {"minLength": 1, "maxLength": 1000, "not": {"pattern": "\u0000"}},
  "max_output_bytes": {"maximum": 10485760},
  "context_focus_question": {"minLength": 1}
}}`

func newGrep(b *base) Tool {
	return b.tool(Tool{Name: "grep", Description: grepDescription, ReadOnly: true}, grepSchema, grepLimits, checkGrep)
}

type grepCall struct {
	base    *base
	search  grep.Search
	cwd     string // relative to the root
	timeout int    // milliseconds
	focus   string

	explicit bool // the call sets its own output limit
}

const (
	maxMaxMatches  = 5000
	defaultMatches = 500
)

func checkGrep(b *base, r rules, args map[string]any) (Call, []Issue) {
	a := r.check(args, alias{})
	c := &grepCall{base: b}
	s := &c.search
	s.Pattern = a.text("pattern")
	cwd, ok := b.cwdArg(a)
	c.cwd = cwd
	s.Paths = b.searchPaths(a, cwd, ok)
	s.Glob = a.text("glob")
	s.Fixed = a.boolean("fixed_string", false)
	s.IgnoreCase = !a.boolean("case_sensitive", true)
	s.Mode = cmp.Or(a.text("output_mode"), grep.Content)
	s.Context = a.integer("context_lines", 0)
	c.focus = a.focus()
	matches := defaultMatches
	if c.focus != "" { // the answer to the question may be anywhere
		matches = maxMaxMatches
	}
	s.MaxMatches = a.integer("max_matches", matches)
	s.MaxBytes = a.outputCap()
	c.explicit = a.has("max_output_bytes")
	c.timeout = a.integer("timeout_ms", defaultTimeout)
	if issues := a.done(); len(issues) > 0 {
		return nil, issues
	}
	return c, nil
}

// searchPaths resolves path and paths. If cwd is invalid, the target of a relative path is
// unknown, so only absolute paths are checked.
func (b *base) searchPaths(a *arguments, cwd string, cwdOK bool) []grep.Path {
	if a.has("path") && a.has("paths") {
		a.bad("path", schema.Custom)
	}
	names, given := pathList(a)
	if path := a.text("path"); path != "" || !a.has("path") && !a.has("paths") {
		names, given = append(names, "path"), append(given, cmp.Or(path, "."))
	}
	var found []grep.Path
	for i, p := range given {
		if !cwdOK && !filepath.IsAbs(p) {
			continue
		}
		rel := b.pathArg(a, names[i], cwd, p)
		show := rel
		switch {
		case filepath.IsAbs(p):
			show = filepath.Clean(p)
		case b.isOriginal(p):
			show = p
		}
		found = append(found, grep.Path{Rel: rel, Show: filepath.ToSlash(show)})
	}
	return found
}

// pathList returns the valid elements of paths, and the argument path of each.
func pathList(a *arguments) (names, given []string) {
	list, _ := a.values["paths"].([]any)
	for i, v := range list {
		name := "paths." + strconv.Itoa(i)
		if p, ok := v.(string); ok && a.usable(name) {
			names, given = append(names, name), append(given, p)
		}
	}
	return names, given
}

func (c *grepCall) FocusQuestion() string { return c.focus }

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
	if err := c.findOriginals(ctx); err != nil {
		return nil, err
	}
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

// findOriginals gets the texts of the paths that are ids. An id under which nothing is stored may be the name of a file.
func (c *grepCall) findOriginals(ctx context.Context) error {
	for i, p := range c.search.Paths {
		if !c.base.isOriginal(p.Show) {
			continue
		}
		text, found, err := c.base.Original(ctx, p.Show)
		if err != nil {
			return &Error{Code: "io_error", Message: p.Show + ": " + files.PlainReason(err)}
		}
		if found {
			c.search.Paths[i].Text = &text
		}
	}
	return nil
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
	case errors.As(err, &path) && c.base.isOriginal(path.Path) && errors.Is(path.Err, fs.ErrNotExist):
		return &Error{Code: "not_found", Message: path.Path + notKept}
	case errors.As(err, &path):
		return &Error{Code: "invalid_path", Message: path.Error()}
	case errors.As(err, &engine):
		return &Error{Code: "rg_error", Message: engine.Message, ExitCode: &engine.ExitCode}
	}
	return &Error{Code: "spawn_error", Message: "cannot start rg or grep: " + files.PlainReason(err)}
}

// engineEnv returns the environment of rg and grep: without variables that would change
// their output, and with a locale that uses UTF-8.
func (b *base) engineEnv() []string {
	env := b.Env()
	hidden := Hidden(env)
	env = slices.DeleteFunc(slices.Clone(env), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return hidden(name) || strings.HasPrefix(name, "GREP_") || strings.HasPrefix(name, "LC_") ||
			name == "RIPGREP_CONFIG_PATH" || name == "LANG"
	})
	return append(env, "LC_ALL="+utf8Locale(runtime.GOOS))
}

// utf8Locale returns a locale that uses UTF-8 and that the system has.
func utf8Locale(system string) string {
	if system == "darwin" {
		return "en_US.UTF-8"
	}
	return "C.UTF-8"
}
