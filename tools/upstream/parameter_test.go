package upstream

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/tools/jsonspan"
)

func TestShapesMerge(t *testing.T) {
	for _, c := range []struct {
		name, a, b, want string // want "" means a conflict
	}{
		{"the same", `{"type":"string"}`, `{"type":"string","description":"of it"}`, `{"type":"string","description":"of it"}`},
		{"integer and number", `{"type":"integer"}`, `{"type":"number"}`, `{"type":"number"}`},
		{"two enums", `{"type":"string","enum":["a","b"]}`, `{"type":"string","enum":["b","c"]}`, `{"type":"string","enum":["a","b","c"]}`},
		{"an enum and any string", `{"type":"string","enum":["a"]}`, `{"type":"string"}`, `{"type":"string"}`},
		{"nullable stays nullable", `{"type":["string","null"]}`, `{"type":"string"}`, `{"type":["string","null"]}`},
		{"a real conflict", `{"type":"string"}`, `{"type":"boolean"}`, ``},
		{"arrays of different items", `{"type":"array","items":{"type":"string"}}`, `{"type":"array","items":{"type":"number"}}`, ``},
	} {
		merged, ok := mergeSchemas(shapeOf(decoded(t, c.a), shapeDetail{Words: 9, Enum: 9, Inner: 9}), shapeOf(decoded(t, c.b), shapeDetail{Words: 9, Enum: 9, Inner: 9}))
		if c.want == "" {
			assert.False(t, ok, c.name)
			continue
		}
		if assert.True(t, ok, c.name) {
			assert.JSONEq(t, c.want, string(compactJSON(merged)), c.name)
		}
	}
}

func decoded(t *testing.T, text string) map[string]any {
	t.Helper()
	v, err := jsonspan.Decode([]byte(text))
	require.NoError(t, err)
	return v.(map[string]any)
}

// TestEveryArrayHasItems checks the shapes of arrays at every detail, however the server declares them.
func TestEveryArrayHasItems(t *testing.T) {
	for text, want := range map[string]string{
		`{"type":"array"}`: `{"type":"array","items":{}}`,
		`{"type":"array","items":{"type":"string","description":"a word"}}`:                                 `{"type":"array","items":{"type":"string"}}`,
		`{"type":"array","items":{"type":"object","properties":{"a":{"type":"array"}},"required":["a"]}}`:   `{"type":"array","items":{"type":"object"}}`,
		`{"type":"array","items":{"type":"array","items":{"type":"number"}}}`:                               `{"type":"array","items":{"type":"array","items":{"type":"number"}}}`,
		`{"type":"array","prefixItems":[{"type":"string"}]}`:                                                `{"type":"array","items":{}}`,
		`{"anyOf":[{"type":"array","items":{"type":"string"}},{"type":"array","items":{"type":"number"}}]}`: `{"type":"array","items":{}}`,
		`{"type":"object","properties":{"list":{"type":["array","null"]}}}`:                                 `{"type":"object"}`,
	} {
		schema, _ := resolveSchema([]byte(text))
		assert.JSONEq(t, want, string(compactJSON(shapeOf(schema, shapeDetail{}))), text)
		whole := string(compactJSON(shapeOf(schema, everyDetail)))
		assert.GreaterOrEqual(t, strings.Count(whole, `"items"`), strings.Count(whole, `"array"`), whole)
	}
}

// TestManyParametersAreNamedOneByOne checks that to name one takes the same however many there are.
func TestManyParametersAreNamedOneByOne(t *testing.T) {
	allocations := func(n int) float64 {
		var names []string
		for i := range n {
			names = append(names, fmt.Sprintf(`"p.%d":{}`, i))
		}
		d := &parse(t, "s", tool("t", "", `{"properties":{`+strings.Join(names, ",")+`}}`))[0]
		return testing.AllocsPerRun(10, func() { d.paramName("p.1") })
	}
	assert.InDelta(t, allocations(2), allocations(2000), 5)
}
