package structure_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/doc"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/structure"
)

func TestShapes(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want structure.Shape
	}{
		"csv":     {"id,name,amount\n" + strings.Repeat("7,\"Smith, John\",12.5\n", 9), structure.Table},
		"tsv":     {"id\tname\n" + strings.Repeat("7\tSmith\n", 9), structure.Table},
		"records": {strings.Repeat("{\"id\": 7, \"name\": \"Smith\"}\n", 9), structure.Table},
		"json":    {"{\n" + strings.Repeat("  \"a\": {\n    \"b\": 1\n  },\n", 9) + "}\n", structure.Keys},
		"yaml":    {strings.Repeat("a:\n  b: 1\n  - c\n", 9), structure.Keys},
		"toml":    {strings.Repeat("[a.b]\nc = 1\n\n", 9), structure.Keys},
		"xml":     {"<a>\n" + strings.Repeat("  <b>1</b>\n", 9) + "</a>\n", structure.Keys},
		"go":      {strings.Repeat("func f(a, b int) {\n\tx := a\n\treturn\n}\n", 9), structure.Plain},
		"python":  {strings.Repeat("def f(a, b):\n    x = a\n    return x\n\n", 9), structure.Plain},
		"prose":   {strings.Repeat("One thing, and then another one here.\n", 9), structure.Plain},
	} {
		require.Equal(t, c.want, structure.ShapeOf(doc.New(c.text)), name)
	}
}

func TestLinesAtAPathOfKeys(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want []int
	}{
		"json": {"{\n  \"a\": {\n    \"b\": {\n      \"c\": 1\n    }\n  },\n  \"x\": {\n    \"c\": 2\n  }\n}\n", []int{3}},
		"yaml": {"a:\n  b:\n    c: 1\nx:\n  c: 2\n", []int{2}},
		"toml": {"[a.b]\nc = 1\n\n[x]\nc = 2\n", []int{1}},
		"xml":  {"<a>\n  <b>\n    <c>1</c>\n  </b>\n</a>\n<x>\n  <c>2</c>\n</x>\n", []int{2}},
	} {
		d := doc.New(c.text)
		o := structure.KeyOutline(d)
		require.Equal(t, c.want, structure.LinesAt(d, o, []string{"a", "b", "c"}), name)
		require.Equal(t, c.want, structure.LinesAt(d, o, []string{"a", "c"}), "%s, a key left out", name)
		require.Empty(t, structure.LinesAt(d, o, []string{"b", "a"}), name)
	}
}
