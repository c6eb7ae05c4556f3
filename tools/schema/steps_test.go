package schema

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestACheckEnds compares values with schemas whose references double what has to be compared, 30 times.
func TestACheckEnds(t *testing.T) {
	const draft7 = `"$schema":"http://json-schema.org/draft-07/schema#",`
	for _, c := range [][3]string{
		{"", "anyOf", `{%s}`}, {"", "allOf", `{%s}`}, {"", "oneOf", `{"not":{%s}}`}, {"", "anyOf", `{"properties":{"a":{%s}}}`}, {draft7, "anyOf", `{"not":{%s}}`},
	} {
		draft, word, around := c[0], c[1], c[2]
		defs := []string{`"d0":{"type":"string","minLength":5}`}
		for n := range 30 {
			ref := fmt.Sprintf(`{"$ref":"#/$defs/d%d"}`, n)
			defs = append(defs, fmt.Sprintf(`"d%d":{%q:[%s,%s]}`, n+1, word, ref, ref))
		}
		text := fmt.Sprintf(around, `"$ref":"#/$defs/d30"`)
		s, err := Compile(json.RawMessage(`{` + draft + `"$defs":{` + strings.Join(defs, ",") + `},"allOf":[` + text + `]}`))
		require.NoError(t, err)
		s.Check("x") // it ends
		s.Check(map[string]any{"a": "x"})
	}
	s := MustCompile(json.RawMessage(`{"$defs":{"d":{"type":"string"}},"type":"array","items":{"$ref":"#/$defs/d"}}`))
	assert.Len(t, s.Check([]any{"x", 1, 2}), 2, "a check of an ordinary length finds everything")
	assert.Empty(t, s.Check([]any{"x"}))
}
