package agent

// Opencode is opencode.
var Opencode = Client{
	Name:      "opencode",
	Title:     "opencode",
	Announces: "opencode",
	Files: Files{
		Folder:  Folder{Variable: "XDG_CONFIG_HOME", Default: ".config", Below: "opencode"},
		Hooks:   File{Name: "plugins/mcp-pruner.js"},
		Servers: File{Name: "opencode.json", Or: []string{"opencode.jsonc", "opencode.json", "config.json"}, As: JSONC},
	},
	Results: Results{
		Limits: map[string]Limit{
			"grep":  {Lines: 100, Bytes: 45_000},
			AnyTool: {Lines: 1950, Bytes: 45_000},
		},
		HidesErrorData: true,
	},
}
