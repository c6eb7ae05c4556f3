package agent

import _ "embed"

// Cline is the Cline CLI. docs/clients/cline.md has what was measured.
var Cline = Client{
	Name:      "cline",
	Title:     "Cline",
	Announces: "@cline/core",
	Files: Files{
		Folder:  Folder{Default: ".cline"},
		Hooks:   File{Name: "plugins/mcp-pruner.js"},
		Servers: File{Name: "data/settings/cline_mcp_settings.json", As: StrictJSON},
	},
	Transcripts: clineTranscripts,
	// It shows 8,000 characters of the result as JSON, in which each line break counts twice.
	Results: Results{Limits: map[string]Limit{AnyTool: {Bytes: 6_500}}},
	Hooks:   &clineHooks,
	Servers: ServerList{Member: "mcpServers", Entry: func(program string, env map[string]any) map[string]any {
		return map[string]any{"type": "stdio", "command": program, "env": env}
	}},
}

//go:embed cline.js
var clinePlugin string

// clineHooks: our plugin sends the data of each part of a call, and replaces the part's result by the output of the answer.
var clineHooks = Hooks{
	Plugin: clinePlugin,
	Read: func(m Message, kind func(string) string) (Call, Occasion) {
		c, occasion := readOpencode(m, kind)
		c.Exit = nil
		return c, occasion
	},
	Answer: opencodeHooks.Answer,
}
