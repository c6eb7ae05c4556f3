package upstream

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/mcp-pruner/mcp-pruner/tools/jsonspan"
)

// mended returns arguments in which slips that models often make are put right, as far as the schema of the tool says what is meant:
// null for an optional argument that cannot be null, and a number, a boolean, a list or an object as text. The given ones stay.
func (d *Definition) mended(args map[string]any) map[string]any {
	args = maps.Clone(args)
	for name, value := range args {
		s := d.slips()[name]
		switch text, isText := value.(string); {
		case value == nil && s.null:
			delete(args, name)
		case isText && s.text:
			args[name] = meantBy(text, s.types)
		}
	}
	return args
}

// slip says which values of a parameter are put right: null, and a text in the place of a value of other types.
type slip struct {
	null, text bool
	types      []string
}

// slips returns the slips of the tool's parameters, which are found once.
func (d *Definition) slips() map[string]slip {
	d.lazy.mending.Do(func() {
		properties, required := d.properties()
		d.lazy.slips = make(map[string]slip, len(properties))
		for name, property := range properties {
			types, _ := typesOf(property, 0)
			d.lazy.slips[name] = slip{!slices.Contains(types, "null") && !slices.Contains(required, name), !slices.Contains(types, "string"), types}
		}
	})
	return d.lazy.slips
}

// MayChange reports whether an argument of the tool, the first byte of whose JSON is given, may not go to the server as it is.
func (e *Exposed) MayChange(name string, first byte) bool {
	a := e.Actions[0]
	s := a.Def.slips()[name]
	return len(a.Rename) > 0 || name == "action" || s.null && first == 'n' || s.text && first == '"'
}

// meantBy returns the value whose JSON a text is, if it has one of the types, else the text.
func meantBy(text string, types []string) any {
	if !json.Valid([]byte(text)) {
		return text
	}
	value, _ := jsonspan.Decode([]byte(text))
	kind := typeOfValue(value)
	if slices.Contains(types, kind) && kind != "null" || kind == "integer" && slices.Contains(types, "number") {
		return value
	}
	return text
}
