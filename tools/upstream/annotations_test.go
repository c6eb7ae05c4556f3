package upstream

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/tools/upstream/parameter"
)

func TestHintsAreTheMostCarefulOnes(t *testing.T) {
	yes, no := true, false
	reads, writes, silent := Annotations{ReadOnly: &yes}, Annotations{ReadOnly: &no, Destructive: &yes}, Annotations{}
	assert.Equal(t, Annotations{ReadOnly: &yes, Destructive: &no}, common([]Annotations{reads, reads}))
	assert.Equal(t, Annotations{ReadOnly: &no, Destructive: &yes}, common([]Annotations{reads, writes}))
	assert.Nil(t, common([]Annotations{reads, silent}).ReadOnly, "a tool that says nothing is not read-only")
}

// TestAHintThatCannotBeReadIsTheMostCareful gives every hint a value of every wrong type, for a tool alone and in a group.
func TestAHintThatCannotBeReadIsTheMostCareful(t *testing.T) {
	careful := `{"readOnlyHint":false,"destructiveHint":true,"idempotentHint":false,"openWorldHint":true}`
	for written, want := range map[string]string{
		`"true"`: careful, `"false"`: careful, `"yes"`: careful, `0`: careful, `1`: careful, `null`: careful, `[]`: careful, `{}`: careful, `""`: careful,
		`true`:  `{"readOnlyHint":true,"destructiveHint":true,"idempotentHint":true,"openWorldHint":true}`,
		`false`: `{"readOnlyHint":false,"destructiveHint":false,"idempotentHint":false,"openWorldHint":false}`,
	} {
		hints := fmt.Sprintf(`{"readOnlyHint":%[1]s,"destructiveHint":%[1]s,"idempotentHint":%[1]s,"openWorldHint":%[1]s}`, written)
		tools := parse(t, "s", `{"name":"get_thing","annotations":`+hints+`}`, `{"name":"set_thing","annotations":`+hints+`}`)
		for _, mode := range []Mode{Trimmed, Grouped} {
			for _, e := range Build([]Server{{Name: "s", Tools: tools}}, mode, options) {
				assert.JSONEq(t, want, string(parameter.Compact(e.Annotations)), "%s %s", mode, written)
			}
		}
	}
	for annotations, want := range map[string]string{
		`"none"`: careful, `[]`: careful, `7`: careful, `true`: careful, `null`: `{}`, `{}`: `{}`, `{"title":"x"}`: `{}`,
		`{"READONLYHINT":true,"DestructiveHint":false}`:     `{}`,
		`{"readOnlyHint":true,"destructiveHint":"no"}`:      `{"readOnlyHint":true,"destructiveHint":true}`,
		`{"readOnlyHint":false,"READONLYHINT":true}`:        `{"readOnlyHint":false}`,
		`{"destructiveHint":"false","openWorldHint":false}`: `{"destructiveHint":true,"openWorldHint":false}`,
	} {
		tools := parse(t, "s", `{"name":"get_thing","annotations":`+annotations+`}`)
		assert.JSONEq(t, want, string(parameter.Compact(tools[0].Annotations)), annotations)
	}
	mixed := parse(t, "s", `{"name":"get_thing","annotations":{"readOnlyHint":true,"destructiveHint":"true","idempotentHint":true}}`,
		`{"name":"list_thing","annotations":{"readOnlyHint":true,"destructiveHint":false,"idempotentHint":"true"}}`)
	merged := Build([]Server{{Name: "s", Tools: mixed}}, Grouped, options)
	require.Len(t, merged, 1)
	assert.JSONEq(t, `{"readOnlyHint":true,"destructiveHint":true,"idempotentHint":false}`, string(parameter.Compact(merged[0].Annotations)))
}
