package upstream

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/tools/schema"
)

// TestRandomLists checks the invariants of the design on random servers: every tool is
// reachable exactly once, clients accept every name and schema, the same list gives the
// same bytes, and a call that is valid upstream is valid as exposed and is translated back
// unchanged.
func TestRandomLists(t *testing.T) {
	seeds := int64(40)
	if testing.Short() {
		seeds = 4
	}
	for seed := range seeds {
		r := rand.New(rand.NewSource(seed))
		tools := parse(t, "rnd", randomTools(r)...)
		for _, mode := range []Mode{Grouped, Trimmed} {
			o := Options{Tokens: words, Target: []float64{0, .6, .99}[r.Intn(3)], SplitRW: r.Intn(2) == 0}
			list := Build([]Server{{Name: "rnd", Tools: tools}}, mode, o)
			again := slices.Clone(tools)
			r.Shuffle(len(again), func(i, j int) { again[i], again[j] = again[j], again[i] })
			other := Build([]Server{{Name: "rnd", Tools: again}}, mode, o)
			reached := map[string]int{}
			for i := range list {
				e := &list[i]
				require.Equal(t, string(e.Wire()), string(other[i].Wire()), "seed %d: the order of the list changes bytes", seed)
				for j := range e.Actions {
					reached[e.Actions[j].Def.Name]++
					checkRoundTrip(t, r, e, &e.Actions[j], fmt.Sprintf("seed %d %s %s", seed, e.Name, e.Actions[j].Name))
				}
				checkForm(t, e)
			}
			require.Len(t, reached, len(tools), "seed %d", seed)
			for name, n := range reached {
				require.Equal(t, 1, n, "seed %d: %s", seed, name)
			}
		}
	}
}

func checkForm(t *testing.T, e *Exposed) {
	t.Helper()
	require.True(t, validName(e.Name, maxName), e.Name)
	var top map[string]any
	require.NoError(t, json.Unmarshal(e.InputSchema, &top))
	require.Equal(t, "object", top["type"])
	require.Subset(t, []string{"type", "description", "properties", "required"}, slices.Collect(maps.Keys(top)))
	var schema struct {
		Properties map[string]map[string]any
	}
	require.NoError(t, json.Unmarshal(e.InputSchema, &schema))
	for name, p := range schema.Properties {
		require.NotEmpty(t, p["type"], name)
		require.True(t, validName(name, maxParam), name)
		if p["enum"] != nil {
			require.Equal(t, "string", p["type"], name)
		}
	}
}

// checkRoundTrip invents a call of the upstream tool and converts it to the exposed form.
// The exposed schema must accept it, and the translation must return the original call.
func checkRoundTrip(t *testing.T, r *rand.Rand, e *Exposed, a *Action, where string) {
	t.Helper()
	upstream := map[string]any{}
	properties, required := a.Def.properties()
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		if slices.Contains(required, name) || r.Intn(2) == 0 {
			upstream[name] = randomValue(r, properties[name])
		}
	}
	exposed := a.exposedArgs(upstream)
	rules, err := schema.Compile(e.InputSchema)
	require.NoError(t, err, where)
	require.Empty(t, rules.Check(exposed), "%s: the exposed schema refuses a valid call\n%s\n%v", where, e.InputSchema, exposed)
	call, _, refusal := e.Translate(exposed)
	require.Empty(t, refusal, where)
	require.Equal(t, a.Def.Name, call.Def.Name, where)
	require.Equal(t, upstream, call.Arguments, where)
}

func randomTools(r *rand.Rand) []string {
	verbs := []string{"get", "list", "create", "delete", "update", "frob", "searchFor"}
	nouns := []string{"user", "users", "file", "pull_request", "Pull-Request_file", "entity", "x", "café"}
	names := map[string]bool{}
	var out []string
	for range 1 + r.Intn(30) {
		name := verbs[r.Intn(len(verbs))] + []string{"_", "-", ""}[r.Intn(3)] + nouns[r.Intn(len(nouns))]
		if r.Intn(9) == 0 {
			name += strings.Repeat("_long", r.Intn(20))
		}
		if names[name] {
			continue
		}
		names[name] = true
		out = append(out, tool(name, strings.Repeat("Does a thing with it. ", r.Intn(8)), string(compactJSON(randomSchema(r)))))
	}
	return out
}

func randomSchema(r *rand.Rand) map[string]any {
	params := []string{"id", "name", "action", "subaction", "limit", "kind", "bad name", "tags", "where", strings.Repeat("p", 70)}
	properties, required := map[string]any{}, []any{}
	for range r.Intn(6) {
		name := params[r.Intn(len(params))]
		properties[name] = randomProperty(r, 0)
		if r.Intn(3) == 0 && !slices.Contains(required, any(name)) {
			required = append(required, name)
		}
	}
	schema := map[string]any{"type": "object", "properties": properties, "required": required}
	if r.Intn(2) == 0 {
		schema["additionalProperties"] = false
	}
	return oddly(r, schema, properties)
}

// oddly rewrites a schema in one of the unusual forms that real servers use.
func oddly(r *rand.Rand, schema, properties map[string]any) map[string]any {
	switch r.Intn(8) {
	case 0: // a property by reference
		schema["$defs"] = map[string]any{"shared": randomProperty(r, 1)}
		properties["shared"] = map[string]any{"$ref": "#/$defs/shared"}
	case 1: // a property that refers to itself
		schema["$defs"] = map[string]any{"node": map[string]any{"type": "object", "properties": map[string]any{"next": map[string]any{"$ref": "#/$defs/node"}}}}
		properties["node"] = map[string]any{"$ref": "#/$defs/node"}
	case 2: // alternatives at the top level
		return map[string]any{"oneOf": []any{schema}}
	case 3:
		return map[string]any{"type": "object", "allOf": []any{schema}}
	case 4:
		delete(schema, "type")
	}
	return schema
}

func randomProperty(r *rand.Rand, depth int) map[string]any {
	if depth > 2 {
		return map[string]any{"type": "string"}
	}
	switch r.Intn(11) {
	case 0:
		return map[string]any{"type": "string", "enum": []any{"a", "b", string(rune('a' + r.Intn(26)))}}
	case 1:
		return map[string]any{"type": "integer", "minimum": 0}
	case 2:
		return map[string]any{"type": "number", "description": "A number, whatever it is for."}
	case 3:
		return map[string]any{"type": "boolean", "default": true}
	case 4:
		return map[string]any{"type": "array", "items": randomProperty(r, depth+1)}
	case 5:
		return map[string]any{"type": "object", "properties": map[string]any{"in": randomProperty(r, depth+1)}}
	case 6:
		return map[string]any{"anyOf": []any{randomProperty(r, depth+1), map[string]any{"type": "null"}}}
	case 7:
		return map[string]any{"enum": []any{json.Number("1"), json.Number("2")}}
	case 8:
		return map[string]any{}
	case 9:
		return map[string]any{"type": []any{"string", "null"}}
	}
	return map[string]any{"type": "string", "minLength": 1}
}

func randomValue(r *rand.Rand, schema map[string]any) any {
	if enum, _ := schema["enum"].([]any); len(enum) > 0 {
		return enum[r.Intn(len(enum))]
	}
	if any, _ := schema["anyOf"].([]any); len(any) > 0 {
		return randomValue(r, object(any[r.Intn(len(any))]))
	}
	types, several := shapeOf(schema, shapeDetail{})["type"].([]any)
	if !several {
		types = []any{shapeOf(schema, shapeDetail{})["type"]}
	}
	switch types[r.Intn(len(types))] {
	case "integer":
		return json.Number(fmt.Sprint(r.Intn(1000)))
	case "number":
		return json.Number("2.25")
	case "boolean":
		return r.Intn(2) == 0
	case "array":
		return []any{randomValue(r, object(schema["items"]))}
	case "object":
		out := map[string]any{}
		for name, p := range object(schema["properties"]) {
			out[name] = randomValue(r, object(p))
		}
		return out
	case "null":
		return nil
	}
	return "text"
}

func object(v any) map[string]any {
	o, _ := v.(map[string]any)
	return o
}
