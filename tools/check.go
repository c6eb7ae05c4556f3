package tools

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/mcp-pruner/mcp-pruner/tools/schema"
)

// rules checks a call's arguments against the schema that clients see, plus limits that are
// not listed there for brevity, given as a JSON merge patch.
type rules func() *schema.Schema

// newRules compiles the rules on the first call, because many servers end without one.
func newRules(listed json.RawMessage, limits string) rules {
	return sync.OnceValue(func() *schema.Schema { return schema.MustCompile(listed, limits) })
}

// A Builder makes a call from arguments of valid types, of which optional ones may be
// missing, and reports violations that a schema cannot express.
type Builder func(args map[string]any) (Call, []Issue)

// Checked returns a [Tool]'s Check. It reports all violations of the listed schema and of
// the limits merged into it, and then those that the builder finds in the remaining
// arguments.
func Checked(listed json.RawMessage, limits string, build Builder) func(map[string]any) (Call, []Issue) {
	r := newRules(listed, limits)
	return func(args map[string]any) (Call, []Issue) {
		usable := maps.Clone(args)
		var issues []Issue
		for _, f := range r().Check(args) {
			issues = append(issues, Issue{Path: f.Path(), Code: f.Code})
			if len(f.At) > 0 {
				delete(usable, f.At[0])
			}
		}
		call, more := build(usable)
		if issues = append(issues, more...); len(issues) > 0 {
			return nil, issues
		}
		return call, nil
	}
}

// arguments are one call's arguments with their issues. An invalid value reads as its
// default, so that one pass finds every violation.
type arguments struct {
	values map[string]any
	alias  alias // used in this call; zero: none
	issues []Issue
}

// check checks arguments against the rules. The aliased argument, if any, may have either
// name.
func (r rules) check(given map[string]any, aliased alias) *arguments {
	a := &arguments{values: maps.Clone(given)}
	if v, used := given[aliased.other]; used && aliased.other != "" {
		delete(a.values, aliased.other)
		if _, both := given[aliased.name]; both {
			a.bad(aliased.other, schema.Custom)
		} else {
			a.alias = aliased
			a.values[aliased.name] = v
		}
	}
	if question, ok := a.values["context_focus_question"].(string); ok {
		a.values["context_focus_question"] = strings.TrimSpace(question)
	}
	for _, f := range r().Check(a.values) {
		a.bad(f.Path(), f.Code)
	}
	return a
}

// bad reports an issue, under the argument name that the client used.
func (a *arguments) bad(path, code string) {
	if a.alias.name != "" && path == a.alias.name {
		path = a.alias.other
	}
	a.issues = append(a.issues, Issue{Path: path, Code: code})
}

// done returns all issues, sorted by path and code, without duplicates.
func (a *arguments) done() []Issue {
	slices.SortFunc(a.issues, func(x, y Issue) int {
		return cmp.Or(strings.Compare(x.Path, y.Path), strings.Compare(x.Code, y.Code))
	})
	return slices.Compact(a.issues)
}

func (a *arguments) has(name string) bool {
	_, ok := a.values[name]
	return ok
}

// usable reports whether an argument has no issue so far.
func (a *arguments) usable(name string) bool {
	if name == a.alias.name && name != "" {
		name = a.alias.other
	}
	return !slices.ContainsFunc(a.issues, func(i Issue) bool { return i.Path == name })
}

// text returns a string argument, or "" if it is absent or invalid.
func (a *arguments) text(name string) string { return valueOr(a, name, "") }

func (a *arguments) boolean(name string, missing bool) bool { return valueOr(a, name, missing) }

func (a *arguments) focus() string { return a.text("context_focus_question") }

// valueOr returns an argument of a type that needs no conversion, or missing if it is
// absent or invalid.
func valueOr[T any](a *arguments, name string, missing T) T {
	if v, ok := a.values[name].(T); ok && a.usable(name) {
		return v
	}
	return missing
}

func (a *arguments) integer(name string, missing int) int {
	if !a.has(name) || !a.usable(name) {
		return missing
	}
	return schema.Int(a.values[name])
}

// outputCap returns max_output_bytes, or the limit for calls without it.
func (a *arguments) outputCap() int { return a.integer("max_output_bytes", maxOutputBytes) }

// pathArg checks one path and returns it relative to the root.
func (b *base) pathArg(a *arguments, name, dir, p string) string {
	rel, ok := b.root.Within(dir, p)
	if !ok {
		a.bad(name, schema.Custom)
	}
	return rel
}

// cwdArg returns the optional argument cwd relative to the root, "." if it is missing. It
// returns false if cwd is invalid.
func (b *base) cwdArg(a *arguments) (string, bool) {
	if !a.has("cwd") {
		return ".", true
	}
	if !a.usable("cwd") {
		return ".", false
	}
	rel, ok := b.root.Within(".", a.text("cwd"))
	if !ok {
		a.bad("cwd", schema.Custom)
		return ".", false
	}
	return rel, true
}
