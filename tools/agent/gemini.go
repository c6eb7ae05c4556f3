package agent

// Gemini is the Gemini CLI.
var Gemini = Client{
	Name:      "gemini",
	Title:     "Gemini CLI",
	Announces: "gemini-cli-mcp-client",
	Files: Files{
		Folder:  Folder{Variable: "GEMINI_CLI_HOME", Below: ".gemini"},
		Hooks:   File{Name: "settings.json", As: CommentedJSON},
		Servers: File{Name: "settings.json", As: CommentedJSON},
		Managed: func(string, func(string) string) []string {
			return []string{"/etc/gemini-cli/settings.json", "/Library/Application Support/GeminiCli/settings.json"}
		},
	},
	Results: Results{
		Limits: map[string]Limit{
			"read":  {Lines: 2000, Bytes: 39_000},
			"grep":  {Lines: 100, Bytes: 39_000},
			AnyTool: {Bytes: 39_000},
		},
		HidesErrorData: true,
	},
	Shells:          Shells{Hooks: PowerShell, Tools: PowerShell},
	ProjectVariable: "GEMINI_PROJECT_DIR",
}
