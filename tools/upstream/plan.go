package upstream

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// Mode says how a server's tools are exposed.
type Mode string

// The modes. Clients that search tools themselves get Trimmed, which keeps the names so
// that permission rules still work. All others get Grouped.
const (
	Trimmed Mode = "trim"
	Grouped Mode = "group"
)

// Options apply to all servers.
type Options struct {
	SplitRW bool    // separates tools that only read from the others
	Bare    bool    // names without the server's prefix, for exactly one server
	Target  float64 // fraction of the list's tokens to remove, 0 to 1
	// Tokens counts the tokens of a text; it decides how much prose fits the target.
	Tokens func(text string) int
	// Exact: every name stays, and no tool gets a parameter for the question by which its result is pruned.
	Exact bool
}

// plan holds the tools to expose, before their texts are written.
type plan struct {
	mode  Mode
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
	p := plan{mode: mode, names: s.naming(o.Bare, o.Exact)}
	byName := map[string]*Definition{}
	for i := range s.Tools {
		byName[s.Tools[i].Name] = &s.Tools[i]
	}
	if mode == Grouped || m.restricts() { // anybody can say that he is a client with another form
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
		p.tools[i].asks = m.PruneOver > 0 && !o.Exact
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
// pinned, have a schema that refers to itself, or are in no group of the operator.
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
		m.Groups = autoGroup(m.Namespace, tools, m.routed()).Groups
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

// reading reports whether an action only reads: by the server's hint or, without one, by every verb of the tool's name. Where
// the operator's mapping fixes what a tool does, that is its name.
func reading(a Action) bool {
	if a.Def.Annotations.ReadOnly != nil {
		return *a.Def.Annotations.ReadOnly
	}
	if set, ok := a.Route.Set["action"].(string); ok {
		return onlyReads(set)
	}
	return onlyReads(a.Def.Name)
}

// separate gives a hash to the tools of one server that would have the same name. A name that the operator's mapping
// gives keeps its meaning.
func (n naming) separate(tools []planned) []planned {
	count, fixed := map[string]int{}, map[string]int{}
	for _, t := range tools {
		count[t.name]++
		if t.given {
			fixed[t.name]++
		}
	}
	for i := range tools {
		if t := &tools[i]; count[t.name] > 1 && (!t.given || fixed[t.name] > 1) {
			t.why += "; " + t.name + " is the name of several of its tools"
			t.name = marked(t.name, longMark, n.server, t.noun, t.actions[0].Def.Name)
		}
	}
	slices.SortFunc(tools, func(a, b planned) int { return strings.Compare(a.name, b.name) })
	return slices.CompactFunc(tools, func(a, b planned) bool { return a.name == b.name })
}
