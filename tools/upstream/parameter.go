package upstream

import (
	"maps"
	"slices"
	"strings"
)

// parametersOf returns the properties of an object schema, of its allOf parts, and of the
// alternatives of anyOf and oneOf. A property is required only if every alternative
// requires it, and if it has no default: servers that generate their schemas with zod list
// properties with a default as required, and fill them in.
func parametersOf(schema map[string]any) (properties map[string]map[string]any, required []string) {
	properties = map[string]map[string]any{}
	own, _ := schema["properties"].(map[string]any)
	for name, p := range own {
		properties[name] = asSchema(p)
	}
	required = stringsOf(schema["required"])
	for _, part := range listOf(schema["allOf"]) {
		more, needed := parametersOf(asSchema(part))
		addMissing(properties, more)
		required = append(required, needed...)
	}
	for _, key := range []string{"anyOf", "oneOf"} {
		var common []string
		for i, part := range listOf(schema[key]) {
			more, needed := parametersOf(asSchema(part))
			addMissing(properties, more)
			if i == 0 {
				common = needed
			}
			common = slices.DeleteFunc(common, func(n string) bool { _, both := slices.BinarySearch(needed, n); return !both })
		}
		required = append(required, common...)
	}
	slices.Sort(required)
	required = slices.Compact(required)
	return properties, slices.DeleteFunc(required, func(n string) bool { return properties[n] == nil || hasDefault(properties[n]) })
}

// hasDefault reports whether a schema says which value counts if none is given.
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
		if merged, ok := mergeSchemas(shapeOf(have, everyDetail), shapeOf(from[name], everyDetail)); ok {
			merged["description"] = textOf(have["description"])
			to[name] = merged
			continue
		}
		to[name] = map[string]any{"anyOf": []any{have, from[name]}, "description": textOf(have["description"])}
	}
}

// shapeDetail says how much of a parameter's schema is shown.
type shapeDetail struct {
	Words int      // of its description; half as many for each level of nesting
	Novel int      // words of its description that its name and the tool's do not have; with fewer it is left out
	Brief bool     // only the words of its description that are no filler
	Enum  int      // maximum values of an enum; a longer one becomes a plain string
	Inner int      // depth to which properties of objects are listed
	Known []string // the names

	read map[excerpt]string // nil: nothing is remembered
}

// excerpt is a text to shorten, and to how many words.
type excerpt struct {
	text  string
	words int
}

// shorten is Shorten for a text that may have been shortened before.
func (d shapeDetail) shorten(text string, words int) string {
	short, known := d.read[excerpt{text, words}]
	if !known {
		if short = Shorten(text, words); d.read != nil {
			d.read[excerpt{text, words}] = short
		}
	}
	return short
}

// parametersOf returns the detail for a parameter with a name.
func (d shapeDetail) Of(name string) shapeDetail {
	d.Known = append(d.Known[:len(d.Known):len(d.Known)], name)
	return d
}

// everyDetail shows a complete shape, without descriptions.
var everyDetail = shapeDetail{Enum: maxExpanded, Inner: maxDepth}

func (d shapeDetail) within() shapeDetail {
	if d.Novel == 0 {
		d.Words /= 2
	}
	d.Inner--
	return d
}

// shapeOf reduces the schema of a parameter to what a model needs to fill it in: its type,
// its values, and the properties of objects. Formats, limits and defaults are removed,
// since calls are checked against the original schema. Every shape has a type, and every array has items: model APIs refuse
// one without.
func shapeOf(schema map[string]any, d shapeDetail) map[string]any {
	types, values := typesOf(schema, 0)
	shape := map[string]any{}
	switch {
	case len(types) == 1:
		shape["type"] = types[0]
	default:
		shape["type"] = anyList(types)
	}
	if text := describeValues(schema, values, types, d); text != "" {
		shape["description"] = text
	}
	if len(values) > 0 && len(values) <= d.Enum && onlyStrings(types, values) {
		shape["enum"] = anyList(values)
	}
	if slices.Contains(types, "array") {
		shape["items"] = d.items(itemsOf(schema))
	}
	if slices.Contains(types, "object") && d.Inner > 0 {
		addObject(shape, schema, d.within())
	}
	return shape
}

// items returns the shape of an array's items: without their properties and texts where these are not shown.
func (d shapeDetail) items(schema map[string]any) map[string]any {
	switch {
	case schema == nil:
		return map[string]any{}
	case d.Inner <= 0:
		return shapeOf(schema, shapeDetail{})
	}
	inside := d.within()
	inside.Inner = d.Inner
	return shapeOf(schema, inside)
}

func addObject(shape, schema map[string]any, d shapeDetail) {
	properties, required := parametersOf(objectOf(schema))
	if len(properties) == 0 {
		return
	}
	inner := make(map[string]any, len(properties))
	for name, p := range properties {
		inner[name] = shapeOf(p, d.Of(name))
	}
	shape["properties"] = inner
	if len(required) > 0 {
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
			if p := asSchema(part); slices.Contains(declared(p), "object") {
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

// describeValues returns the shortened description of a parameter. It lists values that cannot
// become an enum.
func describeValues(schema map[string]any, values []any, types []string, d shapeDetail) string {
	text := d.text(textOf(schema["description"]))
	if len(values) == 0 || len(values) > d.Enum || onlyStrings(types, values) {
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

// readDescription is the number of words of a description that are read to judge whether it can be guessed.
const readDescription = 16

// text returns what is shown of a description.
func (d shapeDetail) text(description string) string {
	if d.Novel == 0 {
		return d.shorten(description, d.Words)
	}
	start := d.shorten(description, readDescription)
	switch {
	case NovelWords(start, WordRoots(d.Known...)) < d.Novel:
		return ""
	case d.Brief:
		return brief(start, d.Words)
	}
	return d.shorten(start, d.Words)
}
