package contextgc

import (
	"encoding/json"
	"math"
	"slices"
	"unicode/utf8"

	"mcp-pruner/tools"
)

// arguments reads one call's arguments. Each method takes one argument and notes
// what is wrong with it, so that one pass finds every violation.
type arguments struct {
	given  map[string]any
	taken  map[string]bool
	issues []tools.Issue
}

func newArguments(given map[string]any) *arguments {
	return &arguments{given: given, taken: make(map[string]bool)}
}

func (a *arguments) bad(path, code string) {
	a.issues = append(a.issues, tools.Issue{Path: path, Code: code})
}

// take returns an argument. ok is false when it is not there, which is an issue
// where it is required.
func (a *arguments) take(name string, required bool) (v any, ok bool) {
	a.taken[name] = true
	v, ok = a.given[name]
	if !ok && required {
		a.bad(name, "invalid_type")
	}
	return v, ok
}

// check turns the arguments into a call, or says everything that is wrong.
func (a *arguments) check(call tools.Call) (tools.Call, []tools.Issue) {
	for name := range a.given {
		if !a.taken[name] {
			a.bad("", "unrecognized_keys")
			break
		}
	}
	if len(a.issues) > 0 {
		return nil, a.issues
	}
	return call, nil
}

func (a *arguments) text(name string, required bool, most int) string {
	v, ok := a.take(name, required)
	if !ok {
		return ""
	}
	s, ok := v.(string)
	switch {
	case !ok:
		a.bad(name, "invalid_type")
	case s == "" && required:
		a.bad(name, "too_small")
	case utf8.RuneCountInString(s) > most:
		a.bad(name, "too_big")
	}
	return s
}

// id is a text that names a project, task or segment.
func (a *arguments) id(name string, required bool) string {
	s := a.text(name, required, 128)
	if s != "" && !ValidID(s) {
		a.bad(name, "invalid_string")
	}
	return s
}

func (a *arguments) choice(name string, required bool, allowed ...string) string {
	v, ok := a.take(name, required)
	if !ok {
		return ""
	}
	s, ok := v.(string)
	switch {
	case !ok:
		a.bad(name, "invalid_type")
	case !slices.Contains(allowed, s):
		a.bad(name, "invalid_enum_value")
	}
	return s
}

// number is an integer; given is false when it is not there.
func (a *arguments) number(name string, least, most int) (n int, given bool) {
	v, ok := a.take(name, false)
	if !ok {
		return 0, false
	}
	f, ok := float(v)
	switch {
	case !ok || f != math.Trunc(f):
		a.bad(name, "invalid_type")
	case f < float64(least):
		a.bad(name, "too_small")
	case f > float64(most):
		a.bad(name, "too_big")
	}
	return int(f), true
}

func float(v any) (float64, bool) {
	switch n := v.(type) {
	case float64:
		return n, true
	case json.Number:
		f, err := n.Float64()
		return f, err == nil
	case int:
		return float64(n), true
	}
	return 0, false
}

func (a *arguments) flag(name string) bool {
	v, ok := a.take(name, false)
	b, isBool := v.(bool)
	if ok && !isBool {
		a.bad(name, "invalid_type")
	}
	return b
}

const maxIDs = 10_000

func (a *arguments) ids(name string) []string {
	v, ok := a.take(name, true)
	if !ok {
		return nil
	}
	list, ok := v.([]any)
	switch {
	case !ok:
		a.bad(name, "invalid_type")
		return nil
	case len(list) == 0:
		a.bad(name, "too_small")
	case len(list) > maxIDs:
		a.bad(name, "too_big")
		return nil
	}
	return a.strings(name, list, true)
}

func (a *arguments) strings(name string, list []any, ids bool) []string {
	var all []string
	for i, v := range list {
		s, ok := v.(string)
		path := name + "." + itoa(i)
		switch {
		case !ok:
			a.bad(path, "invalid_type")
		case ids && !ValidID(s):
			a.bad(path, "invalid_string")
		}
		all = append(all, s)
	}
	return all
}

func (a *arguments) tags(name string) []string {
	v, ok := a.take(name, false)
	if !ok {
		return nil
	}
	list, ok := v.([]any)
	if !ok {
		a.bad(name, "invalid_type")
		return nil
	}
	return a.strings(name, list, false)
}

// descriptors are the platform's own; of what they may hold, only the file and the
// task matter here.
func (a *arguments) descriptors(name string) *Descriptors {
	v, ok := a.take(name, false)
	if !ok {
		return nil
	}
	object, ok := v.(map[string]any)
	if !ok {
		a.bad(name, "invalid_type")
		return nil
	}
	d := &Descriptors{}
	switch file := object["current_file"].(type) {
	case string:
		d.CurrentFile = file
	case map[string]any:
		d.CurrentFile, _ = file["path"].(string)
	}
	if task, ok := object["task_info"].(map[string]any); ok {
		d.TaskID, _ = task["task_id"].(string)
	}
	return d
}
