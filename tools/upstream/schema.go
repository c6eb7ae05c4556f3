package upstream

import (
	"maps"
	"slices"
	"strings"
)

// propertiesOf returns the properties of an object schema, of its allOf parts, and of the
// alternatives of anyOf and oneOf. A property is required only if every alternative
// requires it, and if it has no default: servers that generate their schemas with zod list
// properties with a default as required, and fill them in.
func propertiesOf(schema map[string]any) (properties map[string]map[string]any, required []string) {
	properties = map[string]map[string]any{}
	own, _ := schema["properties"].(map[string]any)
	for name, p := range own {
		properties[name] = asSchema(p)
	}
	required = stringsOf(schema["required"])
	for _, part := range listOf(schema["allOf"]) {
		more, needed := propertiesOf(asSchema(part))
		addMissing(properties, more)
		required = append(required, needed...)
	}
	for _, key := range []string{"anyOf", "oneOf"} {
		var common []string
		for i, part := range listOf(schema[key]) {
			more, needed := propertiesOf(asSchema(part))
			addMissing(properties, more)
			if i == 0 {
				common = needed
			}
			common = slices.DeleteFunc(common, func(n string) bool { return !slices.Contains(needed, n) })
		}
		required = append(required, common...)
	}
	slices.Sort(required)
	required = slices.Compact(required)
	return properties, slices.DeleteFunc(required, func(n string) bool { return properties[n] == nil || hasDefault(properties[n]) })
}

func hasDefault(property map[string]any) bool {
	_, has := property["default"]
	return has
}

// addMissing adds the properties of another part of a schema. A property with different
// schemas in two parts accepts the values of either.
func addMissing(to, from map[string]map[string]any) {
	for _, name := range slices.Sorted(maps.Keys(from)) {
		have, ok := to[name]
		if !ok {
			to[name] = from[name]
			continue
		}
		if merged, ok := mergeShapes(shapeOf(have, everything), shapeOf(from[name], everything)); ok {
			merged["description"] = textOf(have["description"])
			to[name] = merged
			continue
		}
		to[name] = map[string]any{"anyOf": []any{have, from[name]}, "description": textOf(have["description"])}
	}
}

// detail says how much of a parameter's schema is shown.
type detail struct {
	words int // of its description; half as many for each level of nesting
	enum  int // maximum values of an enum; a longer one becomes a plain string
	inner int // depth to which properties of objects are listed
}

// everything shows a complete shape, without descriptions.
var everything = detail{enum: maxExpanded, inner: maxDepth}

func (d detail) within() detail { return detail{d.words / 2, d.enum, d.inner - 1} }

// shapeOf reduces the schema of a parameter to what a model needs to fill it in: its type,
// its values, and the properties of objects. Formats, limits and defaults are removed,
// since calls are checked against the original schema. Every shape has a type.
func shapeOf(schema map[string]any, d detail) map[string]any {
	types, values := typesOf(schema, 0)
	shape := map[string]any{}
	switch {
	case len(types) == 1:
		shape["type"] = types[0]
	default:
		shape["type"] = anyList(types)
	}
	if text := describe(schema, values, types, d); text != "" {
		shape["description"] = text
	}
	if len(values) > 0 && len(values) <= d.enum && onlyStrings(types, values) {
		shape["enum"] = anyList(values)
	}
	if slices.Contains(types, "array") && d.inner > 0 {
		if items := itemsOf(schema); items != nil {
			shape["items"] = shapeOf(items, detail{d.words / 2, d.enum, d.inner})
		}
	}
	if slices.Contains(types, "object") && d.inner > 0 {
		addObject(shape, schema, d.within())
	}
	return shape
}

func addObject(shape, schema map[string]any, d detail) {
	properties, required := propertiesOf(objectOf(schema))
	if len(properties) == 0 {
		return
	}
	inner := make(map[string]any, len(properties))
	for name, p := range properties {
		inner[name] = shapeOf(p, d)
	}
	shape["properties"] = inner
	if len(required) > 0 && d.words > 0 {
		shape["required"] = anyList(required)
	}
}

// objectOf returns the part of a schema that describes its objects: the schema itself, or
// the only alternative that is an object.
func objectOf(schema map[string]any) map[string]any {
	if schema["properties"] != nil || schema["allOf"] != nil {
		return schema
	}
	var found []map[string]any
	for _, key := range []string{"anyOf", "oneOf"} {
		for _, part := range listOf(schema[key]) {
			if p := asSchema(part); slices.Contains(declaredTypes(p), "object") {
				found = append(found, p)
			}
		}
	}
	if len(found) == 1 {
		return found[0]
	}
	return map[string]any{} // several kinds of objects: accept any object
}

func itemsOf(schema map[string]any) map[string]any {
	if items, ok := schema["items"].(map[string]any); ok {
		return items
	}
	for _, key := range []string{"anyOf", "oneOf"} {
		var found []map[string]any
		for _, part := range listOf(schema[key]) {
			if items, ok := asSchema(part)["items"].(map[string]any); ok {
				found = append(found, items)
			}
		}
		if len(found) == 1 {
			return found[0]
		}
	}
	return nil
}

// describe returns the shortened description of a parameter. It lists values that cannot
// become an enum.
func describe(schema map[string]any, values []any, types []string, d detail) string {
	text := shorten(textOf(schema["description"]), d.words)
	if len(values) == 0 || len(values) > d.enum || onlyStrings(types, values) {
		return text
	}
	var named []string
	for _, v := range values {
		if v != nil { // null is part of the type
			named = append(named, string(compactJSON(v)))
		}
	}
	return strings.TrimSpace(text + " One of " + strings.Join(named, ", "))
}

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
