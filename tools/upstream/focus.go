package upstream

import (
	"maps"
	"slices"
	"strings"
)

// FocusParam is the parameter in which a model says what it needs from a result that may be
// pruned. The gateway adds it to the tools of servers whose results may be pruned.
const FocusParam = "context_focus_question"

// withFocus adds the parameter, unless the tool already has one with that name.
func withFocus(params []param) (all []param, asks bool) {
	if slices.ContainsFunc(params, func(p param) bool { return p.name == FocusParam }) {
		return params, false
	}
	return append(params, param{FocusParam, map[string]any{"type": "string", "description": "What you need of a long result"}}), true
}

// takeFocus removes the question from a call's arguments and returns both.
func (e *Exposed) takeFocus(args map[string]any) (question string, rest map[string]any) {
	if _, given := args[FocusParam]; !e.asks || !given {
		return "", args
	}
	rest = maps.Clone(args)
	delete(rest, FocusParam)
	question, _ = args[FocusParam].(string)
	return strings.TrimSpace(question), rest
}

// maxQuoted bounds the length of an argument in a default question.
const maxQuoted = 200

// about returns the default question when the model gave none: the tool's name and its text
// arguments.
func (c *Call) about() string {
	parts := splitName(c.Def.Name)
	for _, name := range slices.Sorted(maps.Keys(c.Arguments)) {
		if text, ok := c.Arguments[name].(string); ok && len(text) <= maxQuoted {
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, " ")
}
