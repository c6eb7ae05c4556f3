package upstream

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// maxDepth bounds the depth to which a schema is read. Anything deeper accepts any value.
const maxDepth = 24

// maxExpanded bounds the number of nodes of a schema once its references are expanded.
// Anything beyond that accepts any value.
const maxExpanded = 20_000

// resolved decodes a schema and expands its local references. It returns nil if the schema
// cannot be decoded. If the schema refers to itself or is too large, the parts not expanded
// accept any value, and cyclic is true.
func resolved(raw json.RawMessage) (schema map[string]any, cyclic bool) {
	v, err := decodeJSON(raw)
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
	target, _ := lookup(r.root, ref)
	merged := maps.Clone(asSchema(target))
	maps.Copy(merged, beside)
	delete(merged, "$ref")
	if next, ok := asSchema(target)["$ref"]; ok {
		merged["$ref"] = next
	}
	if r.open[ref] {
		r.cyclic = true
		out := map[string]any{}
		if types := declaredTypes(merged); len(types) > 0 {
			out["type"] = anyList(types)
		}
		return out
	}
	r.open[ref] = true
	defer delete(r.open, ref)
	return r.resolve(merged, depth+1)
}

// lookup returns the target of a local JSON pointer such as "#/$defs/Point".
func lookup(root map[string]any, ref string) (any, bool) {
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

// propertiesOf returns the properties of an object schema, of its allOf parts, and of the
// alternatives of anyOf and oneOf. A property is required only if every alternative
// requires it.
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
	return properties, slices.DeleteFunc(required, func(n string) bool { return properties[n] == nil })
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
	types = declaredTypes(schema)
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
	return ordered(types), values
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
		if t := declaredTypes(asSchema(part)); len(types) == 0 && len(t) > 0 {
			types, values = typesOf(asSchema(part), depth+1)
		}
	}
	return types, values
}

func declaredTypes(schema map[string]any) []string {
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

// ordered removes duplicate types, and integer if number is present.
func ordered(types []string) []string {
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
