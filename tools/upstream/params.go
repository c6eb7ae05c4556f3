package upstream

import (
	"encoding/json"
	"slices"
	"strings"
)

// param is a parameter of an exposed tool.
type param struct {
	name  string
	shape map[string]any
}

// maxParam is the maximum length of a parameter name that model APIs accept.
const maxParam = 64

// paramName returns the exposed name of a parameter: its own, unless that is "action" or a
// name that model APIs refuse. If two of a tool's parameters would have the same, such as "a b" and "a.b", each gets a hash.
func (d *Definition) paramName(name string) string {
	exposed := plainParam(name)
	if exposed == name {
		return name
	}
	own, _ := d.properties()
	d.lazy.naming.Do(func() {
		d.lazy.plain = make(map[string]int, len(own))
		for name := range own {
			d.lazy.plain[plainParam(name)]++
		}
	})
	if d.lazy.plain[exposed] > 1 {
		exposed = marked(exposed, shortMark, name)
	}
	for exposed != name && own[exposed] != nil {
		exposed = cutName(exposed + "_2")
	}
	return exposed
}

// plainParam returns the exposed name of a parameter as far as that depends on its own name alone.
func plainParam(name string) string {
	if name == "action" {
		name = "subaction"
	}
	return cutName(name)
}

func cutName(name string) string {
	if validName(name, maxParam) {
		return name
	}
	return plainName(name)
}

// focusParam is the parameter in which a model says what it needs from a result that may be
// pruned. The gateway adds it to the tools of servers whose results may be pruned.
const focusParam = "context_focus_question"

// withFocus adds the parameter, unless the tool already has one with that name.
func withFocus(params []param) (all []param, asks bool) {
	if slices.ContainsFunc(params, func(p param) bool { return p.name == focusParam }) {
		return params, false
	}
	return append(params, param{focusParam, map[string]any{"type": "string", "description": "What you need of a long result"}}), true
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
