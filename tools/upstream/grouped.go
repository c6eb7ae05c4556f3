package upstream

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
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
		hints = append(hints, a.Def.hints())
		names = append(names, a.Name)
		lines = append(lines, g.line(a, l))
	}
	if !slices.Contains(names, helpAction) { // clients refuse a value that is not listed
		names = append(names, helpAction)
	}
	action := map[string]any{"type": "string", "enum": anyList(names)}
	if text := strings.Join(slices.DeleteFunc(lines, func(s string) bool { return s == "" }), "\n"); text != "" {
		action["description"] = text
	}
	params := append([]param{{"action", action}}, g.params...)
	e := Exposed{Name: t.name, Description: description, Annotations: common(hints), Actions: g.actions, Why: t.why}
	if slices.ContainsFunc(g.actions, func(a Action) bool { return a.Def.takesTasks() }) {
		e.More = map[string]json.RawMessage{"execution": json.RawMessage(`{"taskSupport":"optional"}`)}
	}
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
	index   map[string]int   // of a parameter, by exposed name
	needs   map[string][]int // by action: its required parameters, in the order of params
	users   []int            // by parameter: the actions that require it
}

func newGrouping(actions []Action, l level) *grouping {
	g := &grouping{index: map[string]int{}, needs: map[string][]int{}}
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
			if _, needed := slices.BinarySearch(required, name); needed || slices.Contains(a.Route.Require, name) {
				g.needs[a.Name] = append(g.needs[a.Name], g.index[exposed])
			}
		}
		slices.Sort(g.needs[a.Name])
		g.actions = append(g.actions, a)
	}
	g.users = make([]int, len(g.params))
	for _, needed := range g.needs {
		for _, i := range needed {
			g.users[i]++
		}
	}
	return g
}

// add adds a parameter of an action and returns its exposed name: its own name if that is
// free or has the same meaning there, otherwise a name that ends in the action's name.
func (g *grouping) add(a Action, name string, shape map[string]any, own map[string]map[string]any) string {
	exposed := a.Def.paramName(name)
	if g.place(exposed, shape) {
		return exposed
	}
	exposed = cutName(exposed + "_" + strings.Join(splitName(a.Name), "_"))
	for own[exposed] != nil || !g.place(exposed, shape) {
		exposed = cutName(exposed + "_2")
	}
	return exposed
}

// place adds a parameter under a name that is free, or where one with a shape that agrees is. Otherwise it returns false.
func (g *grouping) place(exposed string, shape map[string]any) bool {
	i, taken := g.index[exposed]
	if !taken {
		g.index[exposed] = len(g.params)
		g.params = append(g.params, param{exposed, shape})
		return true
	}
	merged, ok := mergeSchemas(g.params[i].shape, shape)
	if ok {
		g.params[i].shape = merged
	}
	return ok
}

// required returns the parameters that every action requires.
func (g *grouping) required() []string {
	names := []string{"action"}
	for i, n := range g.users {
		if n == len(g.actions) {
			names = append(names, g.params[i].name)
		}
	}
	return names
}

// line describes an action and its required parameters: "info(name): Detailed information
// about server". Parameters that every action requires are not repeated.
func (g *grouping) line(a Action, l level) string {
	var args []string
	for _, i := range g.needs[a.Name] {
		if g.users[i] < len(g.actions) {
			args = append(args, g.params[i].name)
		}
	}
	head := a.Name
	if n := min(len(args), l.needs); n > 0 {
		if n < len(args) {
			args = append(args[:n:n], "…")
		}
		head += "(" + strings.Join(args, ",") + ")"
	}
	text := Shorten(orElse(a.Def.Description, a.Def.Title), l.action)
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
