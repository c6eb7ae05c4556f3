package agent

// Gemini is the Gemini CLI.
var Gemini = Client{
	Name:      "gemini",
	Announces: "gemini-cli-mcp-client",
	Results: Results{Limits: map[string]Limit{
		"read":  {Lines: 2000, Bytes: 39_000},
		"grep":  {Lines: 100, Bytes: 39_000},
		AnyTool: {Bytes: 39_000},
	}},
}
