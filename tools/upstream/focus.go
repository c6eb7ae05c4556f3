package upstream

import (
	"maps"
	"slices"
	"strings"
)

// FocusParam is the parameter in which a model says what it needs of a result that may
// be pruned. Tools of a server whose results may be have it beside their own.
const FocusParam = "context_focus_question"

// withFocus adds the parameter, unless the tool has one of that name.
func withFocus(params []param) (all []param, asks bool) {
	if slices.ContainsFunc(params, func(p param) bool { return p.name == FocusParam }) {
		return params, false
	}
	return append(params, param{FocusParam, map[string]any{"type": "string", "description": "What you need of a long result"}}), true
}

// takeFocus takes the question out of a call's arguments.
func (e *Exposed) takeFocus(args map[string]any) (question string, rest map[string]any) {
	if _, given := args[FocusParam]; !e.asks || !given {
		return "", args
	}
	rest = maps.Clone(args)
	delete(rest, FocusParam)
	question, _ = args[FocusParam].(string)
	return strings.TrimSpace(question), rest
}

// maxQuoted is the length to which an argument says what a call is about.
const maxQuoted = 200

// about is what a call asks where the model did not say it: the tool's name and the
// texts among its arguments.
func (c *Call) about() string {
	parts := splitName(c.Def.Name)
	for _, name := range slices.Sorted(maps.Keys(c.Arguments)) {
		if text, ok := c.Arguments[name].(string); ok && len(text) <= maxQuoted {
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, " ")
}
