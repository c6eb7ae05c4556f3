package upstream

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Mapping says how the tools of one server are grouped. An operator writes it, or autoGroup
// computes it.
type Mapping struct {
	Namespace string            `json:"namespace"`
	Groups    map[string]Group  `json:"groups,omitempty"`     // by noun
	Pin       []string          `json:"pin,omitempty"`        // tools exposed unchanged
	Hide      []string          `json:"hide,omitempty"`       // tools that are not exposed
	Rename    map[string]string `json:"rename,omitempty"`     // exposed names of tools that are not grouped
	PruneOver int               `json:"prune_over,omitempty"` // prunes longer results, in characters; 0: as the gateway is told; negative: never
}

// Group is one exposed tool: a single upstream tool without an action, or several as
// actions.
type Group struct {
	Tool        string           `json:"tool,omitempty"`
	Actions     map[string]Route `json:"actions,omitempty"`
	Description string           `json:"description,omitempty"` // replaces the generated description
}

// Route is the upstream call of an action. In JSON, a string stands for a route with only a
// tool.
type Route struct {
	Tool    string         `json:"tool"`
	Set     map[string]any `json:"set,omitempty"`     // arguments with values fixed by the action
	Params  []string       `json:"params,omitempty"`  // accepted parameters; nil: all but those of Set
	Require []string       `json:"require,omitempty"` // required parameters besides those of the tool
	listed  bool           // params was given, perhaps as an empty list
}

// UnmarshalJSON takes the short form too.
func (r *Route) UnmarshalJSON(raw []byte) error {
	if json.Unmarshal(raw, &r.Tool) == nil {
		return nil
	}
	type plain Route
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	dec.UseNumber()
	if err := dec.Decode((*plain)(r)); err != nil {
		return err
	}
	r.listed = r.Params != nil
	return nil
}

// MarshalJSON uses the short form where it says all.
func (r Route) MarshalJSON() ([]byte, error) {
	if !r.restricts() {
		return json.Marshal(r.Tool)
	}
	type plain struct {
		Tool    string         `json:"tool"`
		Set     map[string]any `json:"set,omitempty"`
		Params  *[]string      `json:"params,omitempty"`
		Require []string       `json:"require,omitempty"`
	}
	out := plain{Tool: r.Tool, Set: r.Set, Require: r.Require}
	if r.listed {
		params := append([]string{}, r.Params...)
		out.Params = &params
	}
	return json.Marshal(out)
}

// Mappings maps server names to mappings.
type Mappings map[string]Mapping

// ParseMappings parses a mapping file: {"servers": {name: mapping}}, or a single mapping. A
// single mapping is for the server named by its namespace or, if there is only one server,
// for that server.
func ParseMappings(raw []byte, servers []string) (Mappings, error) {
	var file struct {
		Servers map[string]Mapping `json:"servers"`
		Mapping
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&file); err != nil {
		return nil, fmt.Errorf("mapping file: %w", err)
	}
	if file.Servers == nil {
		name := file.Namespace
		if !slices.Contains(servers, name) && len(servers) == 1 {
			name = servers[0]
		}
		file.Servers = map[string]Mapping{name: file.Mapping}
	}
	for _, name := range slices.Sorted(maps.Keys(file.Servers)) {
		if !slices.Contains(servers, name) {
			return nil, fmt.Errorf("mapping file: server %q is not in the configuration, which has %s", name, strings.Join(servers, ", "))
		}
		if err := file.Servers[name].check(); err != nil {
			return nil, fmt.Errorf("mapping file: server %s: %w", name, err)
		}
	}
	return file.Servers, nil
}

func (m Mapping) check() error {
	for _, noun := range slices.Sorted(maps.Keys(m.Groups)) {
		g := m.Groups[noun]
		if (g.Tool == "") == (len(g.Actions) == 0) {
			return fmt.Errorf("group %q: give either tool or actions", noun)
		}
		for _, action := range slices.Sorted(maps.Keys(g.Actions)) {
			if g.Actions[action].Tool == "" {
				return fmt.Errorf("group %q, action %q: no tool", noun, action)
			}
		}
	}
	return nil
}

// Unknown returns one message for each tool that a mapping names and the server does not have.
func (m Mapping) Unknown(tools []Definition) []string {
	has := map[string]bool{}
	for _, t := range tools {
		has[t.Name] = true
	}
	var unknown []string
	add := func(where, tool string) {
		if !has[tool] {
			unknown = append(unknown, fmt.Sprintf("%s: no tool %q", where, tool))
		}
	}
	for _, noun := range slices.Sorted(maps.Keys(m.Groups)) {
		g := m.Groups[noun]
		if g.Tool != "" {
			add("group "+noun, g.Tool)
		}
		for _, action := range slices.Sorted(maps.Keys(g.Actions)) {
			add("group "+noun+", action "+action, g.Actions[action].Tool)
		}
	}
	for _, tool := range m.Pin {
		add("pin", tool)
	}
	for _, tool := range m.Hide {
		add("hide", tool)
	}
	for _, tool := range slices.Sorted(maps.Keys(m.Rename)) {
		add("rename", tool)
	}
	return unknown
}

// restricts reports whether the mapping allows fewer arguments for an action than its tool takes.
func (r Route) restricts() bool { return r.listed || len(r.Set) > 0 || len(r.Require) > 0 }

// restricts reports whether the mapping restricts the arguments of any action.
func (m Mapping) restricts() bool {
	for _, g := range m.Groups {
		for _, r := range g.Actions {
			if r.restricts() {
				return true
			}
		}
	}
	return false
}

// routed returns the tools that a mapping groups, pins or hides.
func (m Mapping) routed() map[string]bool {
	named := map[string]bool{}
	for _, g := range m.Groups {
		named[g.Tool] = true
		for _, r := range g.Actions {
			named[r.Tool] = true
		}
	}
	for _, tool := range slices.Concat(m.Pin, m.Hide) {
		named[tool] = true
	}
	return named
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
