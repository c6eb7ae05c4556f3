package upstream

import (
	"cmp"
	"reflect"
	"slices"
)

// mergeSchemas returns a shape that accepts the values of either shape, if one exists that
// loses no information: the same shape; number for integer and number; the union of two
// enums; a type with and without null; a free string for an enum and a string. Otherwise ok
// is false.
func mergeSchemas(a, b map[string]any) (merged map[string]any, ok bool) {
	if reflect.DeepEqual(withoutText(a), withoutText(b)) {
		return withText(withoutText(a), a, b), true
	}
	left, right := shapeTypes(a), shapeTypes(b)
	core := func(types []string) []string {
		return slices.DeleteFunc(slices.Clone(types), func(t string) bool { return t == "null" })
	}
	numeric := func(types []string) bool {
		return slices.Equal(types, []string{"integer"}) || slices.Equal(types, []string{"number"})
	}
	cl, cr := core(left), core(right)
	if !slices.Equal(cl, cr) && !(numeric(cl) && numeric(cr)) {
		return nil, false
	}
	if !sameInside(a, b) {
		return nil, false
	}
	merged = withoutText(a)
	types := orderedTypes(append(slices.Clone(left), right...))
	merged["type"] = anyList(types)
	if len(types) == 1 {
		merged["type"] = types[0]
	}
	mergeEnums(merged, a, b, types)
	return withText(merged, a, b), true
}

// sameInside reports whether two shapes have equal items, properties and required.
func sameInside(a, b map[string]any) bool {
	for _, key := range []string{"items", "properties", "required"} {
		if !reflect.DeepEqual(valueWithoutText(a[key]), valueWithoutText(b[key])) {
			return false
		}
	}
	return true
}

// mergeEnums sets the union of both enums, in order, or no enum if one shape accepts any
// string.
func mergeEnums(merged, a, b map[string]any, types []string) {
	delete(merged, "enum")
	first, second := listOf(a["enum"]), listOf(b["enum"])
	if len(first) == 0 || len(second) == 0 || len(types) != 1 {
		return
	}
	union := slices.Clone(first)
	for _, v := range second {
		if !slices.Contains(union, v) {
			union = append(union, v)
		}
	}
	if len(union) <= maxUnion {
		merged["enum"] = union
	}
}

// maxUnion is the maximum number of values that a parameter of several actions lists. With more it is a plain string.
const maxUnion = 60

// withText gives a merged shape the description of the first shape that has one.
func withText(merged, a, b map[string]any) map[string]any {
	if text := cmp.Or(textOf(a["description"]), textOf(b["description"])); text != "" {
		merged["description"] = text
	}
	return merged
}

// withoutText returns a shape without descriptions.
func withoutText(shape map[string]any) map[string]any {
	out, _ := valueWithoutText(shape).(map[string]any)
	if out == nil {
		out = map[string]any{}
	}
	return out
}

func valueWithoutText(v any) any {
	switch v := v.(type) {
	case map[string]any:
		if v == nil {
			return nil
		}
		out := make(map[string]any, len(v))
		for k, e := range v {
			if _, isText := e.(string); k == "description" && isText {
				continue
			}
			out[k] = valueWithoutText(e)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = valueWithoutText(e)
		}
		return out
	}
	return v
}

func shapeTypes(shape map[string]any) []string {
	switch t := shape["type"].(type) {
	case string:
		return []string{t}
	case []any:
		return stringsOf(t)
	}
	return nil
}
