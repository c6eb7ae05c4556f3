package upstream

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/tools/upstream/language"
	"github.com/mcp-pruner/mcp-pruner/tools/upstream/parameter"
)

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
		params = append(params, param{exposed, parameter.Shape(properties[name], l.detail())})
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
		description = language.Clip(orElse(d.Description, d.Title), l.tool)
	}
	if len(t.actions[0].Def.Description) == 0 && description == "" {
		description = strings.Join(language.Split(d.Name), " ")
	}
	e := Exposed{Name: t.name, Description: description, Annotations: d.Annotations, Actions: []Action{a}, Why: t.why}
	if t.asks {
		params, e.asks = withFocus(params)
	}
	e.InputSchema = objectSchema(params, required)
	return e
}
