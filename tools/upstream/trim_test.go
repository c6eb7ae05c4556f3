package upstream

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestTrimKeepsWhatCannotBeGuessed checks that texts go by what they say, whatever the target.
func TestTrimKeepsWhatCannotBeGuessed(t *testing.T) {
	tools := parse(t, "web", tool("click", "Clicks an element.", `{"type":"object","properties":{
		"uid":{"type":"string","description":"The uid of an element on the page from the page content snapshot"},
		"url":{"type":"string","format":"uri","description":"The URL to click on"},
		"options":{"type":"object","description":"Options","properties":{"x":{"type":"integer"},"y":{"type":"integer"}},"required":["x"]}},"required":["uid"]}`))
	for _, target := range []float64{.6, .8, 1} {
		list := Expose(Server{Name: "web", Tools: tools}, Trimmed, Options{Tokens: words, Target: target})
		schema := string(list[0].InputSchema)
		assert.Contains(t, schema, "snapshot", "target %v", target)
		assert.NotContains(t, schema, "The URL")
		assert.NotContains(t, schema, "uri")
		assert.Contains(t, schema, `"required":["x"]`, "nested")
	}
}

// TestTrimNeverEmptiesAList checks on real lists that some texts of parameters stay, and the descriptions of all tools. One
// of them says how the rest is had.
func TestTrimNeverEmptiesAList(t *testing.T) {
	for _, name := range []string{"playwright", "github-npm", "memory", "filesystem"} {
		tools := fixtureTools(t, name)
		list := Expose(Server{Name: name, Tools: tools}, Trimmed, Options{Tokens: words, Target: 1})
		assert.Positive(t, Kept(list), name)
		helps := 0
		for i := range list {
			assert.Equal(t, strings.TrimSpace(list[i].Actions[0].Def.Description), list[i].Description)
			if strings.HasPrefix(string(list[i].InputSchema), aboutHelp) {
				helps++
			}
		}
		assert.Equal(t, 1, helps, name)
	}
}

// TestNestedRequirementsStay checks that a grouped tool keeps them too, with the least prose.
func TestNestedRequirementsStay(t *testing.T) {
	tools := parse(t, "shop", tool("create_order", "", `{"type":"object","properties":{"to":{"type":"object","properties":{"street":{"type":"string"},"note":{"type":"string"}},"required":["street"]}}}`),
		tool("list_orders", "", `{}`), tool("get_order", "", `{}`))
	list := Expose(Server{Name: "shop", Tools: tools}, Grouped, Options{Tokens: words, Target: 1})
	require.Len(t, list, 1)
	var schema struct {
		Properties map[string]struct{ Required []string }
	}
	require.NoError(t, json.Unmarshal(list[0].InputSchema, &schema))
	assert.Equal(t, []string{"street"}, schema.Properties["to"].Required)
}
