package upstream

import (
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mcp-pruner/mcp-pruner/tools/upstream/language"
	"github.com/mcp-pruner/mcp-pruner/tools/upstream/parameter"
)

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
	var hints []Annotations
	for _, a := range g.actions {
		hints = append(hints, a.Def.Annotations)
		names = append(names, a.Name)
		lines = append(lines, g.line(a, l))
	}
	action := map[string]any{"type": "string", "enum": parameter.List(names)}
	if text := strings.Join(slices.DeleteFunc(lines, func(s string) bool { return s == "" }), "\n"); text != "" {
		action["description"] = text
	}
	params := append([]param{{"action", action}}, g.params...)
	e := Exposed{Name: t.name, Description: description, Annotations: common(hints), Actions: g.actions, Why: t.why}
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
			exposed := g.add(a, name, parameter.Shape(properties[name], l.detail()), properties)
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

// add adds a parameter of an action and returns its exposed name: its own name if that is
// free or has the same meaning there, otherwise a name that ends in the action's name.
func (g *grouping) add(a Action, name string, shape map[string]any, own map[string]map[string]any) string {
	exposed := paramName(name, own)
	if i := g.find(exposed); i < 0 {
		g.params = append(g.params, param{exposed, shape})
		return exposed
	} else if merged, ok := parameter.Merge(g.params[i].shape, shape); ok {
		g.params[i].shape = merged
		return exposed
	}
	exposed = cutName(exposed + "_" + strings.Join(language.Split(a.Name), "_"))
	for i := g.find(exposed); i >= 0 || own[exposed] != nil; i = g.find(exposed) {
		if i >= 0 && own[exposed] == nil {
			if merged, ok := parameter.Merge(g.params[i].shape, shape); ok {
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
	text := language.Shorten(orElse(a.Def.Description, a.Def.Title), l.action)
	switch {
	case text != "":
		return head + ": " + text
	case head != a.Name:
		return head
	}
	return "" // the enum already lists it
}

// maxDescription is the design's limit for the description of a grouped tool.
const maxDescription = 60

// listActions returns the description of a grouped tool: the noun and, within limit
// characters, its actions.
func listActions(noun string, actions []Action, limit int) string {
	noun = strings.TrimSpace(strings.ReplaceAll(noun, "_", " "))
	text := noun
	for i, a := range actions {
		separator, end := "|", 2
		if i == 0 {
			separator = ": "
		}
		if i == len(actions)-1 {
			end = 0
		}
		if utf8.RuneCountInString(text)+len(separator)+len(a.Name)+end > limit {
			if i > 0 {
				text += "|…"
			}
			return text
		}
		text += separator + a.Name
	}
	return text
}
