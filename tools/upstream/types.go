package upstream

import (
	"encoding/json"
	"slices"
	"strings"
)

// allTypes are the types of a schema that does not specify any.
var allTypes = []string{"string", "number", "boolean", "object", "array", "null"}

// typesOf returns the types that a schema allows, in a fixed order, and its values if it
// lists them (enum or const, also spread over alternatives).
func typesOf(schema map[string]any, depth int) (types []string, values []any) {
	if enum := listOf(schema["enum"]); len(enum) > 0 {
		values = enum
	} else if v, ok := schema["const"]; ok {
		values = []any{v}
	}
	types = declared(schema)
	if len(types) == 0 && len(values) > 0 {
		for _, v := range values {
			types = append(types, typeOfValue(v))
		}
	}
	if len(types) == 0 && depth <= maxDepth {
		types, values = typesOfParts(schema, depth)
	}
	if len(types) == 0 {
		types = allTypes
	}
	return orderedTypes(types), values
}

// typesOfParts reads the alternatives of a schema without a type of its own. It returns
// values only if every alternative except null lists them.
func typesOfParts(schema map[string]any, depth int) (types []string, values []any) {
	listed := true
	for _, key := range []string{"anyOf", "oneOf"} {
		for _, part := range listOf(schema[key]) {
			t, v := typesOf(asSchema(part), depth+1)
			types = append(types, t...)
			if len(v) == 0 && !slices.Equal(t, []string{"null"}) {
				listed = false
			}
			values = append(values, v...)
		}
	}
	if !listed {
		values = nil
	}
	for _, part := range listOf(schema["allOf"]) { // all parts apply: use the first that has a type
		if t := declared(asSchema(part)); len(types) == 0 && len(t) > 0 {
			types, values = typesOf(asSchema(part), depth+1)
		}
	}
	return types, values
}

func declared(schema map[string]any) []string {
	var types []string
	switch t := schema["type"].(type) {
	case string:
		types = []string{t}
	case []any:
		types = stringsOf(t)
	}
	known := func(t string) bool { return t == "integer" || slices.Contains(allTypes, t) }
	types = slices.DeleteFunc(types, func(t string) bool { return !known(t) })
	if len(types) == 0 {
		switch {
		case schema["properties"] != nil:
			types = []string{"object"}
		case schema["items"] != nil:
			types = []string{"array"}
		}
	}
	if schema["nullable"] == true && len(types) > 0 {
		types = append(types, "null")
	}
	return types
}

func typeOfValue(v any) string {
	switch v := v.(type) {
	case string:
		return "string"
	case bool:
		return "boolean"
	case json.Number:
		if strings.ContainsAny(v.String(), ".eE") {
			return "number"
		}
		return "integer"
	case []any:
		return "array"
	case nil:
		return "null"
	}
	return "object"
}

// orderedTypes removes duplicate types, and integer if number is present.
func orderedTypes(types []string) []string {
	var out []string
	for _, t := range append([]string{"integer"}, allTypes...) {
		if slices.Contains(types, t) && !(t == "integer" && slices.Contains(types, "number")) {
			out = append(out, t)
		}
	}
	return out
}

// onlyStrings reports whether the values can become an enum: clients accept only enums of
// strings.
func onlyStrings(types []string, values []any) bool {
	if !slices.Equal(types, []string{"string"}) {
		return false
	}
	return !slices.ContainsFunc(values, func(v any) bool { _, ok := v.(string); return !ok })
}
