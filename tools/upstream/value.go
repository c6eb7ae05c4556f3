package upstream

import (
	"encoding/json"

	"github.com/mcp-pruner/mcp-pruner/tools/jsonspan"
)

// maxDepth bounds the depth to which a schema is read. Anything deeper accepts any value.
const maxDepth = 24

func asSchema(v any) map[string]any {
	if m, ok := v.(map[string]any); ok {
		return m
	}
	return map[string]any{} // true, or not a schema: accept anything
}

func listOf(v any) []any {
	list, _ := v.([]any)
	return list
}

func stringsOf(v any) []string {
	var out []string
	for _, e := range listOf(v) {
		if s, ok := e.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

// anyList returns a list as JSON decodes one.
func anyList[T any](list []T) []any {
	out := make([]any, len(list))
	for i, e := range list {
		out[i] = e
	}
	return out
}

func textOf(v any) string {
	s, _ := v.(string)
	return s
}

// compactJSON returns the shortest JSON of v, without escapes for HTML.
func compactJSON(v any) json.RawMessage {
	text, err := jsonspan.Marshal(v)
	if err != nil { // values decoded from JSON can be encoded
		return json.RawMessage("{}")
	}
	return text
}
