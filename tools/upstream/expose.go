package upstream

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// Mode says how a server's tools are exposed.
type Mode string

// The modes. Clients that search tools themselves get Trimmed, which keeps the names so
// that permission rules still work. All others get Grouped.
const (
	Trimmed Mode = "trim"
	Grouped Mode = "group"
)

// Exposed is one tool of the gateway's list.
type Exposed struct {
	Name        string
	Title       string
	Description string
	InputSchema json.RawMessage
	Annotations Annotations
	Actions     []Action // a single one without a Name when the tool takes no action
	Why         string   // reason for this form, for an operator

	asks bool // has the parameter FocusParam besides those of its actions
}

// Action is one upstream call that an exposed tool can make.
type Action struct {
	Name  string // value of the parameter action; "" when there is none
	Def   *Definition
	Route Route
	// Rename maps exposed parameter names to upstream names, where they differ.
	Rename map[string]string
}

// Server is the input for the exposed tools of one server.
type Server struct {
	Name    string
	Tools   []Definition
	Mapping *Mapping // nil: group by noun
}

// mapping returns the operator's mapping or an empty one. The namespace defaults to the
// server's name.
func (s Server) mapping() Mapping {
	var m Mapping
	if s.Mapping != nil {
		m = *s.Mapping
	}
	m.Namespace = cmp.Or(m.Namespace, s.Name)
	return m
}

// Options apply to all servers.
type Options struct {
	SplitRW bool    // separates tools that only read from the others
	Bare    bool    // names without the server's prefix, for exactly one server
	Target  float64 // fraction of the list's tokens to remove, 0 to 1
	// Tokens counts the tokens of a text; it decides how much prose fits the target.
	Tokens func(text string) int
}

// level is the amount of prose to keep, in words unless stated otherwise.
type level struct {
	tool   int // description of a tool that is not grouped
	action int // each action line
	param  int // description of each parameter
	needs  int // maximum required parameters named on an action line; the rest become "…"
	enum   int // maximum values of an enum; a longer one becomes a plain string
	inner  int // depth to which nested objects are described
	list   int // characters for a grouped tool's description, which lists its actions
}

func (l level) detail() detail { return detail{l.param, l.enum, l.inner} }

// levels are ordered from the most prose to none. The first is enough for a model to choose
// a tool: more prose was never worth its cost on every call.
var levels = map[Mode][]level{
	Grouped: {
		{14, 5, 0, 4, 8, 2, 60}, {12, 4, 0, 3, 6, 2, 60}, {10, 3, 0, 3, 6, 2, 60}, {8, 3, 0, 3, 5, 2, 40}, {8, 2, 0, 3, 5, 2, 0},
		{8, 0, 0, 3, 5, 2, 0}, {6, 0, 0, 2, 4, 2, 0}, {5, 0, 0, 1, 4, 1, 0}, {5, 0, 0, 0, 4, 1, 0}, {4, 0, 0, 0, 2, 1, 0}, {4, 0, 0, 0, 0, 1, 0},
	},
	Trimmed: {
		{1000, 0, 12, 0, 20, 4, 0}, {1000, 0, 8, 0, 12, 4, 0}, {1000, 0, 4, 0, 8, 3, 0}, {1000, 0, 0, 0, 8, 2, 0},
	},
}

// Expose returns the exposed tools of one server, sorted by name, with as much prose as the
// target allows.
func Expose(s Server, mode Mode, o Options) []Exposed {
	plan := planOf(s, mode, o)
	allowed := float64(RawTokens(s.Tools, o.Tokens)) * (1 - o.Target)
	var list []Exposed
	for _, l := range levels[mode] {
		list = plan.build(l)
		if float64(ListTokens(list, o.Tokens)) <= allowed {
			break
		}
	}
	return list
}

// ListTokens returns the number of tokens of a list that a model sees: names, descriptions
// and input schemas.
func ListTokens(list []Exposed, tokens func(string) int) int {
	sum := 0
	for _, e := range list {
		sum += tokens(visible(e.Name, e.Description, e.InputSchema))
	}
	return sum
}

// visible returns the text that a model sees of a tool.
func visible(name, description string, schema json.RawMessage) string {
	if len(schema) == 0 {
		schema = json.RawMessage("{}")
	}
	return string(compactJSON(map[string]any{"name": name, "description": description, "input_schema": schema}))
}

// plan holds the tools to expose, before their texts are written.
type plan struct {
	names naming
	tools []planned
}

type planned struct {
	name        string
	noun        string
	description string // from the operator's mapping
	given       bool   // grouped or renamed by the operator's mapping
	pinned      bool
	actions     []Action
	asks        bool // results may be pruned
	why         string
}

func planOf(s Server, mode Mode, o Options) plan {
	m := s.mapping()
	p := plan{names: s.naming(o.Bare)}
	byName := map[string]*Definition{}
	for i := range s.Tools {
		byName[s.Tools[i].Name] = &s.Tools[i]
	}
	if mode == Grouped {
		p.group(m, s.Tools, byName, o)
	}
	taken := p.routed()
	for i := range s.Tools {
		d := &s.Tools[i]
		if slices.Contains(m.Hide, d.Name) || taken[d.Name] {
			continue
		}
		p.alone(m, d, mode)
	}
	for i := range p.tools {
		p.tools[i].asks = m.PruneOver > 0
	}
	p.tools = p.names.separate(p.tools)
	return p
}

func (p *plan) routed() map[string]bool {
	taken := map[string]bool{}
	for _, t := range p.tools {
		for _, a := range t.actions {
			taken[a.Def.Name] = true
		}
	}
	return taken
}

// alone adds a tool that is not grouped: in trim mode every tool, otherwise those that are
// pinned, have a schema that refers to itself, or were added after the grouping was frozen.
func (p *plan) alone(m Mapping, d *Definition, mode Mode) {
	t := planned{name: p.names.tool(d.Name), noun: d.Name, actions: []Action{{Def: d}}, why: "on its own"}
	switch {
	case slices.Contains(m.Pin, d.Name):
		t.pinned, t.why = true, "pinned: as the server lists it"
	case mode == Grouped && d.cyclic:
		t.why += ": its schema refers to itself"
	}
	p.rename(m, &t)
	p.tools = append(p.tools, t)
}

// rename gives a tool without actions the name that the operator chose.
func (p *plan) rename(m Mapping, t *planned) {
	if name := m.Rename[t.actions[0].Def.Name]; name != "" {
		t.name, t.given = p.names.renamed(name), true
	}
}

func (p *plan) group(m Mapping, tools []Definition, byName map[string]*Definition, o Options) {
	given := len(m.Groups) > 0
	if !given {
		m.Groups = AutoGroup(m.Namespace, tools, m.routed()).Groups
	}
	for _, noun := range slices.Sorted(maps.Keys(m.Groups)) {
		g := m.Groups[noun]
		t := planned{name: p.names.group(noun), noun: cmp.Or(noun, m.Namespace), description: g.Description, given: given, why: "group " + noun}
		if d := byName[g.Tool]; d != nil {
			t.actions, t.why = []Action{{Def: d}}, "one tool"
			p.rename(m, &t)
			p.tools = append(p.tools, t)
			continue
		}
		for _, action := range slices.Sorted(maps.Keys(g.Actions)) {
			route := g.Actions[action]
			if d := byName[route.Tool]; d != nil {
				t.actions = append(t.actions, Action{Name: action, Def: d, Route: route})
			}
		}
		p.tools = append(p.tools, p.split(t, o.SplitRW)...)
	}
}

// split moves the actions that only read into a tool of their own. A tool whose actions all
// read or all write is not split, nor is one without actions. The names end in view and
// change: read and write are words of so many tasks that a search would find all of them.
func (p *plan) split(t planned, apart bool) []planned {
	if len(t.actions) == 0 {
		return nil
	}
	var reads, writes []Action
	for _, a := range t.actions {
		if reading(a) {
			reads = append(reads, a)
		} else {
			writes = append(writes, a)
		}
	}
	if !apart || len(reads) == 0 || len(writes) == 0 {
		return []planned{t}
	}
	r, w := t, t
	r.name, r.actions, r.why = p.names.group(t.noun, "view"), reads, t.why+", what reads"
	w.name, w.actions, w.why = p.names.group(t.noun, "change"), writes, t.why+", what writes"
	return []planned{r, w}
}

// reading reports whether an action only reads: by the server's hint or, without one, by
// the action's name.
func reading(a Action) bool {
	if a.Def.Annotations.ReadOnly != nil {
		return *a.Def.Annotations.ReadOnly
	}
	words := splitName(a.Name)
	if set, ok := a.Route.Set["action"].(string); ok {
		words = splitName(set)
	}
	return len(words) > 0 && readVerbs[words[0]]
}

func (p plan) build(l level) []Exposed {
	list := make([]Exposed, 0, len(p.tools))
	for _, t := range p.tools {
		switch {
		case t.pinned:
			list = append(list, asListed(t))
		case len(t.actions) == 1 && t.actions[0].Name == "":
			list = append(list, single(t, l))
		default:
			list = append(list, grouped(t, l))
		}
	}
	return list
}

// asListed returns a tool with its server's own description and schema, as far as the
// schema is valid.
func asListed(t planned) Exposed {
	d := t.actions[0].Def
	schema := d.InputSchema
	if d.schema["type"] != "object" {
		schema = json.RawMessage(`{"type":"object"}`)
	}
	return Exposed{Name: t.name, Title: d.Title, Description: d.Description, InputSchema: schema,
		Annotations: d.Annotations, Actions: t.actions, Why: t.why}
}

// single returns a tool for one upstream tool.
func single(t planned, l level) Exposed {
	d := t.actions[0].Def
	properties, required := d.properties()
	params := make([]param, 0, len(properties))
	rename := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		exposed := name
		if !validName(name, maxParam) {
			exposed = paramName(name, properties)
			rename[exposed] = name
		}
		params = append(params, param{exposed, shapeOf(properties[name], l.detail())})
		for i := range required {
			if required[i] == name {
				required[i] = exposed
			}
		}
	}
	a := t.actions[0]
	a.Rename = rename
	description := t.description
	if description == "" {
		description = clip(orElse(d.Description, d.Title), l.tool)
	}
	if len(t.actions[0].Def.Description) == 0 && description == "" {
		description = strings.Join(splitName(d.Name), " ")
	}
	e := Exposed{Name: t.name, Description: description, Annotations: d.Annotations, Actions: []Action{a}, Why: t.why}
	if t.asks {
		params, e.asks = withFocus(params)
	}
	e.InputSchema = objectSchema(params, required)
	return e
}

func orElse(a, b string) string {
	if strings.TrimSpace(a) != "" {
		return a
	}
	return b
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
