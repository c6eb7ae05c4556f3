package upstream

import (
	"encoding/json"
	"strings"
)

// DefaultTarget is the fraction of a list's tokens that goes unless an operator
// says otherwise. A lower target keeps more prose.
const DefaultTarget = 0.80

// A server that cannot reach the target leaves the whole list above it: the large
// ones then give fairStep more, at most fairSteps times. Beyond that tools become
// harder to find (see TestFindability).
const (
	large     = 12 // tools
	fairStep  = 0.02
	fairSteps = 2
)

// List is everything a client is offered.
type List struct {
	Tools []Exposed // sorted within a server, servers in the order given

	byName map[string]int
}

// Build makes the list of all servers. The target holds for the whole list: what
// a small server cannot give the others do.
func Build(servers []Server, mode Mode, o Options) *List {
	raw := 0
	for _, s := range servers {
		raw += RawTokens(s.Tools, o.Tokens)
	}
	allowed := float64(raw) * (1 - o.Target)
	more := 0.0
	list := buildAt(servers, mode, o, more)
	for range fairSteps {
		if float64(ListTokens(list.Tools, o.Tokens)) <= allowed {
			break
		}
		more += fairStep
		list = buildAt(servers, mode, o, more)
	}
	return list
}

func buildAt(servers []Server, mode Mode, o Options, more float64) *List {
	l := &List{}
	for _, s := range servers {
		own := o
		if len(s.Tools) >= large {
			own.Target += more
		}
		l.Tools = append(l.Tools, Expose(s, mode, own)...)
	}
	l.separate()
	l.byName = make(map[string]int, len(l.Tools))
	for i := range l.Tools {
		l.byName[l.Tools[i].Name] = i
	}
	return l
}

// separate gives tools of several servers that have one name the server's name as
// a prefix, all of them, so that none changes with the order of the servers.
func (l *List) separate() {
	count := map[string]int{}
	for i := range l.Tools {
		count[l.Tools[i].Name]++
	}
	for i := range l.Tools {
		t := &l.Tools[i]
		if count[t.Name] < 2 {
			continue
		}
		t.Why += "; " + t.Name + " is a name of several servers"
		t.Name = toolName(t.Server(), t.Name)
	}
	seen := map[string]bool{}
	for i := range l.Tools { // two long names cut to the same one, or a rename to a name that is taken
		for t := &l.Tools[i]; seen[t.Name]; {
			t.Name = toolName(t.Name, "again", strings.Repeat("n", i))
		}
		seen[l.Tools[i].Name] = true
	}
}

// Find is the exposed tool of a name, nil when there is none.
func (l *List) Find(name string) *Exposed {
	if i, ok := l.byName[name]; ok {
		return &l.Tools[i]
	}
	return nil
}

// Server is the server that the tool's calls go to.
func (e *Exposed) Server() string { return e.Actions[0].Def.Server }

// RawTokens is how many tokens of a server's own list a model would see.
func RawTokens(tools []Definition, tokens func(string) int) int {
	sum := 0
	for i := range tools {
		sum += tokens(visible(tools[i].Name, tools[i].Description, tools[i].InputSchema))
	}
	return sum
}

// Frozen is the grouping of a server as a mapping, to be kept by --freeze.
func Frozen(s Server) Mapping {
	m := Mapping{Namespace: s.Name}
	if s.Mapping != nil {
		m = *s.Mapping
	}
	if len(m.Groups) == 0 {
		m.Groups = AutoGroup(m.Namespace, s.Tools, m.routed()).Groups
	}
	return m
}

// Wire is the tool as tools/list sends it.
func (e *Exposed) Wire() json.RawMessage {
	return compactJSON(Definition{Name: e.Name, Title: e.Title, Description: e.Description, InputSchema: e.InputSchema, Annotations: e.Annotations})
}
