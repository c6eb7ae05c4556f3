package upstream

import (
	"encoding/json"
	"maps"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/tools/jsonspan"
)

// maxExpanded bounds the number of nodes of a schema once its references are expanded.
// Anything beyond that accepts any value.
const maxExpanded = 20_000

// resolveSchema decodes a schema and expands its local references. It returns nil if the schema
// cannot be decoded. If the schema refers to itself or is too large, the parts not expanded
// accept any value, and cyclic is true.
func resolveSchema(raw json.RawMessage) (schema map[string]any, cyclic bool) {
	v, err := jsonspan.Decode(raw)
	if err != nil {
		return nil, false
	}
	root, ok := v.(map[string]any)
	if !ok {
		return nil, false
	}
	r := resolver{root: root, open: map[string]bool{"#": true}}
	out, ok := r.resolve(root, 0).(map[string]any)
	if !ok {
		return nil, false
	}
	return out, r.cyclic
}

type resolver struct {
	root   map[string]any
	open   map[string]bool // references that are being expanded
	nodes  int
	cyclic bool
}

func (r *resolver) resolve(v any, depth int) any {
	r.nodes++
	if depth > maxDepth || r.nodes > maxExpanded {
		r.cyclic = true
		return map[string]any{}
	}
	switch v := v.(type) {
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = r.resolve(e, depth+1)
		}
		return out
	case map[string]any:
		if ref, ok := v["$ref"].(string); ok {
			return r.follow(ref, v, depth)
		}
		out := make(map[string]any, len(v))
		for k, e := range v {
			if depth > 0 || k != "$defs" && k != "definitions" {
				out[k] = r.resolve(e, depth+1)
			}
		}
		return out
	}
	return v
}

// follow expands a reference. Keywords beside it refine the result. A reference without a
// target accepts any value.
func (r *resolver) follow(ref string, beside map[string]any, depth int) any {
	target, _ := lookUpReference(r.root, ref)
	merged := maps.Clone(asSchema(target))
	maps.Copy(merged, beside)
	delete(merged, "$ref")
	if next, ok := asSchema(target)["$ref"]; ok {
		merged["$ref"] = next
	}
	if r.open[ref] {
		r.cyclic = true
		out := map[string]any{}
		if types := declared(merged); len(types) > 0 {
			out["type"] = anyList(types)
		}
		return out
	}
	r.open[ref] = true
	defer delete(r.open, ref)
	return r.resolve(merged, depth+1)
}

// lookUpReference returns the target of a local JSON pointer such as "#/$defs/Point".
func lookUpReference(root map[string]any, ref string) (any, bool) {
	pointer, ok := strings.CutPrefix(ref, "#")
	if !ok {
		return nil, false
	}
	var at any = root
	for _, part := range strings.Split(strings.TrimPrefix(pointer, "/"), "/") {
		if part == "" {
			continue
		}
		object, ok := at.(map[string]any)
		if !ok {
			return nil, false
		}
		part = strings.NewReplacer("~1", "/", "~0", "~").Replace(part)
		if at, ok = object[part]; !ok {
			return nil, false
		}
	}
	return at, true
}
