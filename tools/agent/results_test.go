package agent

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestLimitsOfClients states each limit once more: a change of one must be meant.
func TestLimitsOfClients(t *testing.T) {
	type by = map[string]Limit
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
		"copilot-cli":          {"read": {Bytes: 19_000}, "bash": {Bytes: 19_000}, "grep": {Bytes: 19_000}, other: {Bytes: 19_000}},
		"qwen-cli-mcp-client-": {"read": {Bytes: 28_000}, "bash": {Bytes: 28_000}, "grep": {Bytes: 28_000}, other: {Bytes: 28_000}},
		"@cline/core":          {"read": {Bytes: 6_500}, "bash": {Bytes: 6_500}, "grep": {Bytes: 6_500}, other: {Bytes: 6_500}},
		"kilo": {
			"read": {Lines: 1950, Bytes: 45_000}, "bash": {Lines: 1950, Bytes: 45_000}, "grep": {Lines: 100, Bytes: 45_000}, other: {Lines: 1950, Bytes: 45_000},
		},
		"gemini-cli-mcp-client": {
			"read": {Lines: 2000, Bytes: 39_000}, "bash": {Bytes: 39_000}, "grep": {Lines: 100, Bytes: 39_000}, other: {Bytes: 39_000},
		},
	}
	for _, c := range Clients {
		if c.Announces != "" {
			assert.Contains(t, want, c.Announces, "each client is stated here")
		}
	}
	unknown := Limit{Tokens: 20_000, Bytes: 200_000}
	want["some client"] = by{"read": unknown, "bash": unknown, "grep": unknown, other: unknown}
	for client, limits := range want {
		for tool, limit := range limits {
			assert.Equal(t, limit, Announced(client).Results.Limit(tool, ""), "%s: %s", client, tool)
			assert.Equal(t, limit, Announced(client).Results.Limit(tool, "gpt-5"), "%s: %s", client, tool)
			if client != "codex-mcp-client" {
				assert.Equal(t, limit, Announced(client).Results.Limit(tool, "other"), "only Codex cares for the model: %s: %s", client, tool)
			}
		}
	}
	for _, tool := range []string{"read", "bash", "grep", other} {
		assert.Equal(t, Limit{Bytes: 8_000}, Codex.Results.Limit(tool, "other"), "a model that Codex does not know: %s", tool)
	}
	for client, ceiling := range map[string]int{
		"claude-code": 500_000, "codex-mcp-client": 48_000, "opencode": 0, "gemini-cli-mcp-client": 0, "some client": 0,
	} {
		assert.Equal(t, ceiling, Announced(client).Results.Ceiling, client)
	}
}
