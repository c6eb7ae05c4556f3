package upstream

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
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
				assert.JSONEq(t, want, string(compactJSON(e.Annotations)), "%s %s", mode, written)
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
		assert.JSONEq(t, want, string(compactJSON(tools[0].Annotations)), annotations)
	}
	mixed := parse(t, "s", `{"name":"get_thing","annotations":{"readOnlyHint":true,"destructiveHint":"true","idempotentHint":true}}`,
		`{"name":"list_thing","annotations":{"readOnlyHint":true,"destructiveHint":false,"idempotentHint":"true"}}`)
	merged := Build([]Server{{Name: "s", Tools: mixed}}, Grouped, options)
	require.Len(t, merged, 1)
	assert.JSONEq(t, `{"readOnlyHint":true,"destructiveHint":true,"idempotentHint":false}`, string(compactJSON(merged[0].Annotations)))
}

// TestAnnotationsOnlyBecomeMoreCareful gives the tools of random lists random hints: right, mistyped, missing. What a client assumes of an
// exposed tool is never less careful than what it would assume of any tool behind it, read strictly.
func TestAnnotationsOnlyBecomeMoreCareful(t *testing.T) {
	values := []string{"true", "false", "null", `"true"`, `"false"`, "0", "1", "[]", "{}"}
	keys := []string{"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint", "READONLYHINT", "title"}
	for seed := range int64(200) {
		r := rand.New(rand.NewSource(seed))
		var list []string
		for _, raw := range randomTools(r) {
			hints := []string{"null", "7", `"readOnly"`, "[true]"}[r.Intn(4)]
			if r.Intn(8) > 0 {
				fields := map[string]json.RawMessage{}
				for range r.Intn(6) {
					fields[keys[r.Intn(len(keys))]] = json.RawMessage(values[r.Intn(len(values))])
				}
				hints = string(compactJSON(fields))
			}
			list = append(list, raw[:len(raw)-1]+`,"annotations":`+hints+`}`)
		}
		tools := parse(t, "rnd", list...)
		strict := map[string]map[string]bool{}
		for i := range tools {
			strict[tools[i].Name] = assumed(t, list[i])
		}
		o := Options{Tokens: words, Target: DefaultTarget, SplitRW: r.Intn(2) == 0}
		for _, mode := range []Mode{Grouped, Trimmed} {
			for _, e := range Build([]Server{{Name: "rnd", Tools: tools}}, mode, o) {
				shown := assumed(t, string(e.Wire()))
				for _, a := range e.Actions {
					for hint, risk := range strict[a.Def.Name] {
						require.False(t, risk && !shown[hint], "seed %d: %s hides that %s is not %s", seed, e.Name, a.Def.Name, hint)
					}
				}
			}
		}
	}
}

// assumed returns for each hint of a tool whether a client has to assume the risk: that it writes, destroys, reaches the open world or does
// more when it is called again. Only a boolean takes a risk away.
func assumed(t *testing.T, wire string) map[string]bool {
	t.Helper()
	var listed struct{ Annotations any }
	require.NoError(t, json.Unmarshal([]byte(wire), &listed))
	hints, _ := listed.Annotations.(map[string]any)
	reads := hints["readOnlyHint"] == true
	_, says := hints["destructiveHint"]
	return map[string]bool{"read-only": !reads, "harmless": hints["destructiveHint"] != false && (says || !reads),
		"closed": hints["openWorldHint"] != false, "idempotent": hints["idempotentHint"] != true}
}
