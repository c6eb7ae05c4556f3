package upstream

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"
)

// DefaultTarget is the fraction of a list's tokens that goes unless an operator
// says otherwise. A lower target keeps more prose.
const DefaultTarget = .80

// A small server that cannot reach the target leaves the whole list above it. The
// largest servers then give fairStep more each, at most fairRounds times, until the
// list is there. Beyond that tools become harder to find (see TestFindability).
const (
	fairStep   = 0.02
	fairRounds = 3
)

// List is everything a client is offered.
type List struct {
	Tools []Exposed // sorted within a server, servers in the order given

	byName map[string]int
}

// Build makes the list of all servers. The target holds for the whole list: what
// small servers cannot give the large ones do.
func Build(servers []Server, mode Mode, o Options) *List {
	parts, sizes, after := make([][]Exposed, len(servers)), make([]int, len(servers)), make([]int, len(servers))
	var all sync.WaitGroup
	for i, s := range servers {
		all.Go(func() {
			parts[i], sizes[i] = Expose(s, mode, o), RawTokens(s.Tools, o.Tokens)
			after[i] = ListTokens(parts[i], o.Tokens)
		})
	}
	all.Wait()
	raw, now := 0, 0
	for i := range servers {
		raw, now = raw+sizes[i], now+after[i]
	}
	bySize := make([]int, len(servers))
	for i := range bySize {
		bySize[i] = i
	}
	slices.SortStableFunc(bySize, func(i, j int) int { return sizes[j] - sizes[i] })
	allowed := float64(raw) * (1 - o.Target)
	for range fairRounds {
		o.Target += fairStep
		for _, i := range bySize {
			if float64(now) <= allowed {
				return join(parts)
			}
			before := ListTokens(parts[i], o.Tokens)
			parts[i] = Expose(servers[i], mode, o)
			now += ListTokens(parts[i], o.Tokens) - before
		}
	}
	return join(parts)
}

func join(parts [][]Exposed) *List {
	l := &List{Tools: slices.Concat(parts...)}
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
	m := s.mapping()
	if len(m.Groups) == 0 {
		m.Groups = AutoGroup(m.Namespace, s.Tools, m.routed()).Groups
	}
	return m
}

// Wire is the tool as tools/list sends it.
func (e *Exposed) Wire() json.RawMessage {
	return compactJSON(Definition{Name: e.Name, Title: e.Title, Description: e.Description, InputSchema: e.InputSchema, Annotations: e.Annotations})
}
