package schema

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
)

// maxDigits is the length up to which a number is validated as it is spelled.
const maxDigits = 40

// bounded replaces numbers that exact arithmetic would take long to write out, such as
// 1e999999, by the nearest float64.
func bounded(v any) any {
	switch v := v.(type) {
	case float64:
		return Float(v)
	case json.Number:
		if s := v.String(); len(s) > maxDigits || strings.ContainsAny(s, "eE") {
			return Float(v)
		}
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = bounded(v[i])
		}
		return list
	case map[string]any:
		object := make(map[string]any, len(v))
		for name := range v {
			object[name] = bounded(v[name])
		}
		return object
	}
	return v
}

// Float is a validated number as a finite float64, the nearest there is; 0 for a value
// that is no number.
func Float(v any) float64 {
	switch v := v.(type) {
	case float64:
		return max(-math.MaxFloat64, min(v, math.MaxFloat64))
	case int:
		return float64(v)
	case json.Number:
		f, _ := strconv.ParseFloat(v.String(), 64) // out of range it is an infinity
		return Float(f)
	}
	return 0
}

// Int is a validated integer, spelled 2, 2.0 or 2e0, as the nearest int; 0 for a value
// that is no number.
func Int(v any) int {
	if n, ok := v.(json.Number); ok {
		if i, err := strconv.Atoi(n.String()); err == nil {
			return i
		}
	}
	switch f := Float(v); {
	case f >= math.MaxInt:
		return math.MaxInt
	case f <= math.MinInt:
		return math.MinInt
	default:
		return int(f)
	}
}

// Value is a member of an object, zero when it is absent or of another type.
func Value[T any](object map[string]any, name string) T {
	v, _ := object[name].(T)
	return v
}
