package upstream

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// param is a parameter of an exposed tool.
type param struct {
	name  string
	shape map[string]any
}

// grouped returns a tool with an action parameter and the parameters of all actions.
// Actions whose parameters agree share them.
func grouped(t planned, l level) Exposed {
	g := newGrouping(t.actions, l)
	description := t.description
	if description == "" {
		description = listActions(t.noun, t.actions, l.list)
	}
	if t.given && t.description == "" {
		description = listActions(t.noun, t.actions, maxDescription)
	}
	var names, lines []string
	for _, a := range g.actions {
		names = append(names, a.Name)
		lines = append(lines, g.line(a, l))
	}
	action := map[string]any{"type": "string", "enum": anyList(names)}
	if text := strings.Join(slices.DeleteFunc(lines, func(s string) bool { return s == "" }), "\n"); text != "" {
		action["description"] = text
	}
	params := append([]param{{"action", action}}, g.params...)
	e := Exposed{Name: t.name, Description: description, Annotations: hints(t.actions), Actions: g.actions, Why: t.why}
	if t.asks {
		params, e.asks = withFocus(params)
	}
	e.InputSchema = objectSchema(params, g.required())
	return e
}

// grouping is the union of the parameters of several actions.
type grouping struct {
	actions []Action
	params  []param
	needs   map[string][]string // by action: exposed names of its required parameters
}

func newGrouping(actions []Action, l level) *grouping {
	g := &grouping{needs: map[string][]string{}}
	for _, a := range actions {
		a.Rename = map[string]string{}
		properties, required := a.Def.properties()
		for _, name := range slices.Sorted(maps.Keys(properties)) {
			if !a.takes(name) {
				continue
			}
			exposed := g.add(a, name, shapeOf(properties[name], l.detail()), properties)
			if exposed != name {
				a.Rename[exposed] = name
			}
			if slices.Contains(required, name) || slices.Contains(a.Route.Require, name) {
				g.needs[a.Name] = append(g.needs[a.Name], exposed)
			}
		}
		g.actions = append(g.actions, a)
	}
	return g
}

// takes reports whether the action accepts an upstream parameter.
func (a Action) takes(name string) bool {
	if _, fixed := a.Route.Set[name]; fixed {
		return false
	}
	return !a.Route.listed || slices.Contains(a.Route.Params, name)
}

// add adds a parameter of an action and returns its exposed name: its own name if that is
// free or has the same meaning there, otherwise a name that ends in the action's name.
func (g *grouping) add(a Action, name string, shape map[string]any, own map[string]map[string]any) string {
	exposed := paramName(name, own)
	if i := g.find(exposed); i < 0 {
		g.params = append(g.params, param{exposed, shape})
		return exposed
	} else if merged, ok := mergeShapes(g.params[i].shape, shape); ok {
		g.params[i].shape = merged
		return exposed
	}
	exposed = cutName(exposed + "_" + strings.Join(splitName(a.Name), "_"))
	for i := g.find(exposed); i >= 0 || own[exposed] != nil; i = g.find(exposed) {
		if i >= 0 && own[exposed] == nil {
			if merged, ok := mergeShapes(g.params[i].shape, shape); ok {
				g.params[i].shape = merged
				return exposed
			}
		}
		exposed = cutName(exposed + "_2")
	}
	g.params = append(g.params, param{exposed, shape})
	return exposed
}

func (g *grouping) find(name string) int {
	return slices.IndexFunc(g.params, func(p param) bool { return p.name == name })
}

// required returns the parameters that every action requires.
func (g *grouping) required() []string {
	needed := []string{"action"}
	for _, p := range g.params {
		everywhere := true
		for _, a := range g.actions {
			everywhere = everywhere && slices.Contains(g.needs[a.Name], p.name)
		}
		if everywhere {
			needed = append(needed, p.name)
		}
	}
	return needed
}

// line describes an action and its required parameters: "info(name): Detailed information
// about server". Parameters that every action requires are not repeated.
func (g *grouping) line(a Action, l level) string {
	var args []string
	common := g.required()
	for _, p := range g.params {
		if slices.Contains(g.needs[a.Name], p.name) && !slices.Contains(common, p.name) {
			args = append(args, p.name)
		}
	}
	head := a.Name
	if n := min(len(args), l.needs); n > 0 {
		if n < len(args) {
			args = append(args[:n:n], "…")
		}
		head += "(" + strings.Join(args, ",") + ")"
	}
	text := shorten(orElse(a.Def.Description, a.Def.Title), l.action)
	switch {
	case text != "":
		return head + ": " + text
	case head != a.Name:
		return head
	}
	return "" // the enum already lists it
}

// maxParam is the maximum length of a parameter name that model APIs accept.
const maxParam = 64

// paramName returns the exposed name of a parameter: its own, unless that is "action" or a
// name that model APIs refuse.
func paramName(name string, own map[string]map[string]any) string {
	exposed := name
	if name == "action" {
		exposed = "subaction"
	}
	if !validName(exposed, maxParam) {
		exposed = plainName(name)
	}
	for exposed != name && own[exposed] != nil {
		exposed = cutName(exposed + "_2")
	}
	return exposed
}

func cutName(name string) string {
	if validName(name, maxParam) {
		return name
	}
	return plainName(name)
}

// objectSchema encodes an input schema with the parameters in the given order.
func objectSchema(params []param, required []string) json.RawMessage {
	var out strings.Builder
	out.WriteString(`{"type":"object","properties":{`)
	for i, p := range params {
		if i > 0 {
			out.WriteByte(',')
		}
		out.Write(compactJSON(p.name))
		out.WriteByte(':')
		out.Write(compactJSON(p.shape))
	}
	out.WriteByte('}')
	if len(required) > 0 {
		out.WriteString(`,"required":`)
		out.Write(compactJSON(required))
	}
	out.WriteByte('}')
	return json.RawMessage(out.String())
}
