package upstream

import (
	"encoding/json"
	"maps"
	"slices"
	"sync"

	"github.com/mcp-pruner/mcp-pruner/tools/jsonspan"
	"github.com/mcp-pruner/mcp-pruner/tools/schema"
)

// mended returns arguments in which slips that models often make are put right, as far as the schema of the tool says what is meant:
// null for an optional argument that cannot be null, and a number, a boolean, a list or an object as text. The given ones stay, and
// so does all that the schema takes as it is.
func (d *Definition) mended(args map[string]any) map[string]any {
	rules, mended := d.compiled(), maps.Clone(args)
	if rules == nil {
		return mended
	}
	refused := sync.OnceValue(func() []schema.Finding { return rules.Check(args) })
	for name, value := range args {
		s := d.slips()[name]
		text, isText := value.(string)
		slipped := value == nil && s.null || isText && s.text
		switch {
		case !slipped || !slices.ContainsFunc(refused(), func(f schema.Finding) bool { return len(f.At) > 0 && f.At[0] == name }):
		case isText:
			mended[name] = meantBy(text, s.types)
		default:
			delete(mended, name)
		}
	}
	return mended
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
