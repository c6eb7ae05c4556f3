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
