package agent

// Claude is Claude Code.
var Claude = Client{
	Name:      "claude",
	Announces: "claude-code",
	Results: Results{
		Limits: map[string]Limit{
			"read": {Lines: 2000, Tokens: 25_000, Bytes: 200_000},
			"bash": {Bytes: 30_000},
			"grep": {Bytes: 20_000},
		},
		Ceiling: 500_000, // with anthropic/maxResultSizeChars, which the server sends
	},
}
