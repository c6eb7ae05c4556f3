package schema_test

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/tools/schema"
)

func decode(t testing.TB, raw string) (v any) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(raw))
	d.UseNumber()
	require.NoError(t, d.Decode(&v))
	return v
}

func TestEveryKeywordHasItsCode(t *testing.T) {
	for _, tc := range []struct{ rules, value, want string }{
		{`{"type": "integer"}`, `1.5`, ` invalid_type`},
		{`{"type": "integer"}`, `2e0`, ``},
		{`{"type": "integer"}`, `1e999999999`, ``},
		{`{"type": "integer", "maximum": 9}`, `1e999999999`, ` too_big`},
		{`{"minimum": 1}`, `-1e999999`, ` too_small`},
		{`{"minimum": 0}`, `1e-999999`, ``},
		{`{"maximum": 9007199254740993}`, `9007199254740994`, ` too_big`},
		{`{"minLength": 1}`, `""`, ` too_small`},
		{`{"maxLength": 1}`, `"éé"`, ` too_big`},
		{`{"minItems": 1}`, `[]`, ` too_small`},
		{`{"maxProperties": 0}`, `{"a": 1}`, ` too_big`},
		{`{"pattern": "^a$"}`, `"b"`, ` invalid_string`},
		{`{"enum": ["a"]}`, `"b"`, ` invalid_literal`},
		{`{"enum": ["a", "b"]}`, `"c"`, ` invalid_enum_value`},
		{`{"const": "a"}`, `1`, ` invalid_literal`},
		{`{"not": {"pattern": "\u0000"}}`, `"a\u0000"`, ` custom`},
		{`{"required": ["a", "b"]}`, `{}`, `a invalid_type|b invalid_type`},
		{`{"properties": {"a": {"items": {"additionalProperties": false}}}}`, `{"a": [{}, {"x": 1}]}`, `a.1 unrecognized_keys`},
		{`{"properties": {"a": {"patternProperties": {"[a-z]": false}}}}`, `{"a": {"x": 1, "X": 1}}`, `a.x invalid_string`},
		{`{"allOf": [{"type": "string"}, {"const": "a"}]}`, `1`, ` invalid_literal| invalid_type`},
	} {
		var got []string
		for _, f := range schema.MustCompile([]byte(tc.rules)).Check(decode(t, tc.value)) {
			got = append(got, f.Path()+" "+f.Code)
		}
		assert.Equal(t, tc.want, strings.Join(got, "|"), "%s %s", tc.rules, tc.value)
	}
}

func TestPatchesAreMerged(t *testing.T) {
	rules, err := schema.Compile([]byte(`{"properties": {"a": {"type": "string", "maxLength": 1}}}`),
		`{"properties": {"a": {"type": null, "minLength": 1}, "b": {"type": "boolean"}}, "required": ["b"]}`)
	require.NoError(t, err)
	assert.Empty(t, rules.Check(decode(t, `{"a": 1, "b": true}`)), "the type is gone")
	found := rules.Check(decode(t, `{"a": "éé"}`))
	require.Len(t, found, 2)
	assert.Equal(t, schema.Finding{At: []string{"b"}, Code: "invalid_type", Text: "missing", Missing: true}, found[1])
	assert.Contains(t, found[0].Text, "maxLength")
}

func TestSchemasThatCannotBeUsed(t *testing.T) {
	for raw, want := range map[string]string{
		`{`:             "unexpected EOF",
		`{"type": "x"}`: "not valid",
		`{"$ref": "https://example.com/other.json"}`: "may not refer to other documents",
	} {
		_, err := schema.Compile([]byte(raw))
		require.ErrorContains(t, err, want, raw)
	}
	_, err := schema.Compile([]byte(`{}`), `{`)
	require.ErrorContains(t, err, "merge patch")
	assert.Panics(t, func() { schema.MustCompile([]byte(`{`)) })
	rules, err := schema.Compile([]byte(`{"$schema": "https://example.com/my-docs", "type": "string"}`))
	require.NoError(t, err, "an address that names no dialect is ignored")
	assert.Len(t, rules.Check(1.0), 1)
}

func TestNumbers(t *testing.T) {
	assert.Equal(t, math.MaxInt, schema.Int(json.Number("99999999999999999999")))
	assert.Equal(t, math.MinInt, schema.Int(math.Inf(-1)))
	assert.Equal(t, 1<<30+1, schema.Int(json.Number("1073741825")))
	assert.Equal(t, 20, schema.Int(json.Number("2.0e1")))
	assert.Equal(t, math.MaxFloat64, schema.Float(json.Number("1e999")))
	assert.Zero(t, schema.Float("1"))
	for _, v := range []any{math.NaN(), json.Number("x"), "1", true, nil} {
		assert.NotEmpty(t, schema.MustCompile([]byte(`{"type": "integer"}`)).Check(v), v)
	}
}

func ExampleSchema_Check() {
	rules := schema.MustCompile([]byte(`{"properties": {"age": {"type": "integer"}}, "required": ["name"]}`))
	for _, f := range rules.Check(map[string]any{"age": "7"}) {
		fmt.Println(f.Path(), f.Code, "-", f.Text)
	}
	// Output:
	// age invalid_type - got string, want integer
	// name invalid_type - missing
}

// A server's schema is compiled while its caller waits: one of 150 kB that is nested 4,000 deep would take many minutes.
func TestASchemaThatTakesLongIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		schema string
		fine   bool
	}{
		"deep":        {strings.Repeat(`{"properties":{"a":`, 4000) + `{}` + strings.Repeat(`}}`, 4000), false},
		"wide":        {`{"anyOf":[true` + strings.Repeat(`,{}`, 70_000) + `]}`, false},
		"many values": {`{"enum":["a"` + strings.Repeat(`,"b"`, 70_000) + `]}`, true},
		"many types":  {`{"anyOf":[true` + strings.Repeat(`,{}`, 1000) + `]}`, true},
	} {
		_, err := schema.Compile([]byte(c.schema))
		require.Equal(t, c.fine, err == nil, "%s: %v", name, err)
	}
}
