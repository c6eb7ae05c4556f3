package tools

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A call that leaves an argument out is run with the default that the schema names.
func TestCallsHaveTheDefaultsOfTheirSchemas(t *testing.T) {
	byName := newTools(t, Settings{})
	grep := checked(t, byName["grep"], `{"pattern":"x"}`).(*grepCall)
	bash := checked(t, byName["bash"], `{"command":"x"}`).(*bashCall)
	for _, c := range []struct {
		tool, argument string
		has            any
	}{
		{"grep", "max_matches", float64(grep.search.MaxMatches)},
		{"grep", "timeout_ms", float64(grep.timeout)},
		{"grep", "output_mode", grep.search.Mode},
		{"grep", "fixed_string", grep.search.Fixed},
		{"grep", "case_sensitive", !grep.search.IgnoreCase},
		{"bash", "timeout_ms", float64(bash.timeout)},
	} {
		var schema struct {
			Properties map[string]struct{ Default any }
		}
		require.NoError(t, json.Unmarshal(byName[c.tool].InputSchema, &schema))
		require.NotNil(t, schema.Properties[c.argument].Default, "%s %s", c.tool, c.argument)
		assert.Equal(t, schema.Properties[c.argument].Default, c.has, "%s %s", c.tool, c.argument)
	}
	assert.Equal(t, []int{500, 30_000, 30_000}, []int{grep.search.MaxMatches, grep.timeout, bash.timeout}, "A3")
}
