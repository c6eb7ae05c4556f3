package agent

import "strings"

// Kilo is the Kilo CLI, which began as a copy of opencode and has its hooks, tools and settings. docs/clients/kilo.md has what
// was measured.
var Kilo = Client{
	Name:      "kilo",
	Title:     "Kilo",
	Announces: "kilo",
	Files: Files{
		Folder:  Folder{Variable: "XDG_CONFIG_HOME", Default: ".config", Below: "kilo"},
		Hooks:   File{Name: "plugin/mcp-pruner.js"},
		Servers: File{Name: "kilo.json", Or: append([]string{"kilo.jsonc", "kilo.json"}, opencodeFiles...), As: JSONC},
	},
	Transcripts: Transcripts{
		In:     &Folder{Variable: "XDG_DATA_HOME", Default: ".local/share", Below: "kilo"},
		Folder: "storage/session", Database: "kilo*.db",
	},
	Results:      Opencode.Results,
	Hooks:        &kiloHooks,
	Servers:      Opencode.Servers,
	Restrictions: Opencode.Restrictions,
	Rule:         Opencode.Rule,
}

var kiloHooks = func() Hooks {
	h := opencodeHooks
	h.Plugin = strings.ReplaceAll(opencodePlugin, "init opencode", "init kilo")
	return h
}()
