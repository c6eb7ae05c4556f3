package tools

import (
	"cmp"
	"encoding/json"
	"errors"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// The issue codes of zod v3 that a call's arguments can earn.
const (
	codeType    = "invalid_type"
	codeSmall   = "too_small"
	codeBig     = "too_big"
	codeString  = "invalid_string"
	codeLiteral = "invalid_literal"
	codeEnum    = "invalid_enum_value"
	codeCustom  = "custom"
	codeUnknown = "unrecognized_keys"
)

// Limits that several arguments share.
const (
	maxFocusChars   = 1000
	minOutputBytes  = 1024
	maxOutputBytes  = 10 << 20 // also the cap of a call that names none
	minTimeoutMS    = 100
	maxTimeoutMS    = 300_000
	defaultTimeout  = 30_000
	maxLineNumber   = math.MaxInt32
	maxGlobChars    = 1000
	maxContextLines = 50
)

// arguments checks one call's arguments. Each method asks for one argument,
// notes what is wrong with it, and returns the default where it cannot be used,
// so that one pass finds every violation.
type arguments struct {
	given  map[string]any
	asked  map[string]bool
	issues []Issue
}

func newArguments(given map[string]any) *arguments {
	return &arguments{given: given, asked: map[string]bool{}}
}

func (a *arguments) bad(path, code string) {
	a.issues = append(a.issues, Issue{Path: path, Code: code})
}

func (a *arguments) take(name string) (any, bool) {
	a.asked[name] = true
	v, ok := a.given[name]
	return v, ok
}

// has says whether an argument was given at all.
func (a *arguments) has(name string) bool {
	_, ok := a.given[name]
	return ok
}

// done names arguments nobody asked for and returns all issues by (path, code),
// each once.
func (a *arguments) done() []Issue {
	for name := range a.given {
		if !a.asked[name] {
			a.bad("", codeUnknown)
			break
		}
	}
	slices.SortFunc(a.issues, func(x, y Issue) int {
		return cmp.Or(strings.Compare(x.Path, y.Path), strings.Compare(x.Code, y.Code))
	})
	return slices.Compact(a.issues)
}

// required is the string argument of that name; max 0 means any length.
func (a *arguments) required(name string, max int) (string, bool) {
	v, ok := a.take(name)
	if !ok {
		a.bad(name, codeType)
		return "", false
	}
	return a.text(name, v, max)
}

// optional is like required, without an issue when the argument is missing.
func (a *arguments) optional(name string, max int) (string, bool) {
	v, ok := a.take(name)
	if !ok {
		return "", false
	}
	return a.text(name, v, max)
}

// aliased is required under either of two names, but not under both.
func (a *arguments) aliased(name, alias string, max int, allowed bool) (string, bool) {
	if !allowed {
		return a.required(name, max)
	}
	_, named := a.given[name]
	v, aliased := a.take(alias)
	if !aliased {
		return a.required(name, max)
	}
	if named {
		a.bad(alias, codeCustom)
		a.required(name, max)
		return "", false
	}
	a.asked[name] = true
	return a.text(alias, v, max)
}

// text is a non-empty string without NUL.
func (a *arguments) text(path string, v any, max int) (string, bool) {
	s, ok := v.(string)
	if !ok {
		a.bad(path, codeType)
		return "", false
	}
	before := len(a.issues)
	if s == "" {
		a.bad(path, codeSmall)
	}
	a.plain(path, s, max)
	return s, len(a.issues) == before
}

// plain notes NUL characters and excess length.
func (a *arguments) plain(path, s string, max int) {
	if strings.ContainsRune(s, 0) {
		a.bad(path, codeCustom)
	}
	if max > 0 && utf8.RuneCountInString(s) > max {
		a.bad(path, codeBig)
	}
}

// focus is context_focus_question without surrounding white space.
func (a *arguments) focus() string {
	v, ok := a.take("context_focus_question")
	if !ok {
		return ""
	}
	s, ok := v.(string)
	if !ok {
		a.bad("context_focus_question", codeType)
		return ""
	}
	s = strings.TrimSpace(s)
	switch n := utf8.RuneCountInString(s); {
	case n == 0:
		a.bad("context_focus_question", codeSmall)
	case n > maxFocusChars:
		a.bad("context_focus_question", codeBig)
	}
	return s
}

// outputCap is max_output_bytes, or the cap that always holds.
func (a *arguments) outputCap() int {
	return a.integer("max_output_bytes", minOutputBytes, maxOutputBytes, maxOutputBytes)
}

// timeout is timeout_ms. What a call does not name never exceeds the most.
func (a *arguments) timeout(most, missing int) int {
	return a.integer("timeout_ms", minTimeoutMS, most, min(most, missing))
}

func (a *arguments) integer(name string, min, max, missing int) int {
	v, ok := a.take(name)
	if !ok {
		return missing
	}
	f, ok := number(v)
	switch {
	case !ok || f != math.Trunc(f):
		a.bad(name, codeType)
	case f < float64(min):
		a.bad(name, codeSmall)
	case f > float64(max):
		a.bad(name, codeBig)
	default:
		return int(f)
	}
	return missing
}

// number reads what a JSON decoder makes of a number. What is too large for a
// float64 becomes an infinity, which is an integer out of every range.
func number(v any) (float64, bool) {
	switch v := v.(type) {
	case float64:
		return v, !math.IsNaN(v)
	case int:
		return float64(v), true
	case json.Number:
		f, err := strconv.ParseFloat(v.String(), 64)
		return f, (err == nil || errors.Is(err, strconv.ErrRange)) && !math.IsNaN(f)
	}
	return 0, false
}

func (a *arguments) boolean(name string, missing bool) bool {
	v, ok := a.take(name)
	if !ok {
		return missing
	}
	b, ok := v.(bool)
	if !ok {
		a.bad(name, codeType)
		return missing
	}
	return b
}

// oneOf is a string out of a fixed choice, the first being the default.
func (a *arguments) oneOf(name string, choice ...string) string {
	v, ok := a.take(name)
	if !ok {
		return choice[0]
	}
	s, ok := v.(string)
	switch {
	case !ok:
		a.bad(name, codeType)
	case !slices.Contains(choice, s):
		a.bad(name, codeEnum)
	default:
		return s
	}
	return choice[0]
}

// literal is an argument that may only say what holds anyway.
func (a *arguments) literal(name, only string) {
	if v, ok := a.take(name); ok && v != any(only) {
		a.bad(name, codeLiteral)
	}
}

// pathArg checks one path and returns it relative to the root.
func (b *base) pathArg(a *arguments, name, dir, p string) string {
	rel, ok := b.root.Within(dir, p)
	if !ok {
		a.bad(name, codeCustom)
	}
	return rel
}

// cwdArg is the optional cwd argument relative to the root, "." when missing.
// It is false when there is one that cannot be used.
func (b *base) cwdArg(a *arguments) (string, bool) {
	if _, given := a.given["cwd"]; !given {
		a.take("cwd")
		return ".", true
	}
	p, ok := a.optional("cwd", 0)
	if !ok {
		return ".", false
	}
	rel, ok := b.root.Within(".", p)
	if !ok {
		a.bad("cwd", codeCustom)
		return ".", false
	}
	return rel, true
}

const (
	maxEnvEntries = 200
	maxEnvChars   = 4000
)

var envName = regexp.MustCompile(`^[A-Z_][A-Z0-9_]*$`)

// env is an object of environment variables.
func (a *arguments) env(name string) map[string]string {
	v, ok := a.take(name)
	if !ok {
		return nil
	}
	object, ok := v.(map[string]any)
	if !ok {
		a.bad(name, codeType)
		return nil
	}
	if len(object) > maxEnvEntries {
		a.bad(name, codeBig)
	}
	env := make(map[string]string, len(object))
	for key, value := range object {
		path := name + "." + key
		if !envName.MatchString(key) {
			a.bad(path, codeString)
		}
		s, ok := value.(string)
		if !ok {
			a.bad(path, codeType)
			continue
		}
		a.plain(path, s, maxEnvChars)
		env[key] = s
	}
	return env
}
