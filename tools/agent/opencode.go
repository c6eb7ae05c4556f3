package agent

// Opencode is opencode.
var Opencode = Client{
	Name:      "opencode",
	Announces: "opencode",
	Results: Results{Limits: map[string]Limit{
		"grep":  {Lines: 100, Bytes: 45_000},
		AnyTool: {Lines: 1950, Bytes: 45_000},
	}},
}
