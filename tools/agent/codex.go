package agent

// Codex is the Codex CLI.
var Codex = Client{
	Name:      "codex",
	Title:     "Codex",
	Announces: "codex-mcp-client",
	Files: Files{
		Folder:      Folder{Variable: "CODEX_HOME", Default: ".codex"},
		Hooks:       File{Name: "hooks.json", As: HooksJSON},
		Servers:     File{Name: "config.toml", As: TOML},
		Transcripts: "sessions",
	},
	Results: Results{
		Limits: map[string]Limit{AnyTool: {Tokens: 10_000, Bytes: 36_000}},
		// Of models that it does not know, such as those of another provider, it shows 12,000 bytes, our notice included.
		OtherModels:    Limit{Bytes: 8_000},
		ModelPrefix:    "gpt-",
		Ceiling:        48_000, // 40,000 in code mode, 12,000 for models that Codex does not know
		OnlyStructured: true,
		HidesErrorData: true,
	},
	Shells:        Shells{Hooks: CMD, Tools: PowerShell},
	SearchesTools: true,
	ModelIn:       "x-codex-turn-metadata",
	Secrets:       []string{"CODEX_", "OPENAI_API_KEY"},
}
