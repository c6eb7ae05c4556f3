package states

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"mcp-pruner/tools"
)

// TestLimitsOfClients states each number of the table once more: a change of one must be meant.
func TestLimitsOfClients(t *testing.T) {
	type by = map[string]tools.Limit
	const other = "another tool"
	want := map[string]by{
		"claude-code": {
			"read": {Lines: 2000, Tokens: 25_000, Bytes: 200_000}, "bash": {Bytes: 30_000}, "grep": {Bytes: 20_000}, other: {Tokens: 20_000, Bytes: 200_000},
		},
		"codex-mcp-client": {
			"read": {Tokens: 10_000, Bytes: 36_000}, "bash": {Tokens: 10_000, Bytes: 36_000}, "grep": {Tokens: 10_000, Bytes: 36_000},
			other: {Tokens: 10_000, Bytes: 36_000},
		},
		"opencode": {
			"read": {Lines: 1950, Bytes: 45_000}, "bash": {Lines: 1950, Bytes: 45_000}, "grep": {Lines: 100, Bytes: 45_000}, other: {Lines: 1950, Bytes: 45_000},
		},
		"gemini-cli-mcp-client": {
			"read": {Lines: 2000, Bytes: 39_000}, "bash": {Bytes: 39_000}, "grep": {Lines: 100, Bytes: 39_000}, other: {Bytes: 39_000},
		},
	}
	assert.ElementsMatch(t, slices.Collect(maps.Keys(clients)), slices.Collect(maps.Keys(want)), "each client of the table is stated here")
	unknown := tools.Limit{Tokens: 20_000, Bytes: 200_000}
	want["some client"] = by{"read": unknown, "bash": unknown, "grep": unknown, other: unknown}
	for client, limits := range want {
		for tool, limit := range limits {
			assert.Equal(t, limit, Request{Client: client}.limitOf(tool), "%s: %s", client, tool)
			assert.Equal(t, limit, Request{Client: client, Model: "gpt-5"}.limitOf(tool), "%s: %s", client, tool)
			if client != "codex-mcp-client" {
				assert.Equal(t, limit, Request{Client: client, Model: "other"}.limitOf(tool), "only Codex cares for the model: %s: %s", client, tool)
			}
		}
	}
	for _, tool := range []string{"read", "bash", "grep", other} {
		assert.Equal(t, tools.Limit{Bytes: 8_000}, Request{Client: "codex-mcp-client", Model: "other"}.limitOf(tool), "a model that Codex does not know: %s", tool)
	}
	for client, ceiling := range map[string]int{
		"claude-code": 500_000, "codex-mcp-client": 48_000, "opencode": 0, "gemini-cli-mcp-client": 0, "some client": 0,
	} {
		assert.Equal(t, ceiling, Ceiling(client), client)
	}
}
