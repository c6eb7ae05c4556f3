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
		Servers: File{Name: "kilo.json", Or: kiloFiles, As: JSONC},
	},
	Transcripts: Transcripts{
		In:     &Folder{Variable: "XDG_DATA_HOME", Default: ".local/share", Below: "kilo"},
		Folder: "storage/session", Database: "kilo*.db",
	},
	Results:   Opencode.Results,
	Hooks:     &kiloHooks,
	Prefix:    &kiloPrefix,
	Servers:   Opencode.Servers,
	Rule:      Opencode.Rule,
	Workplace: Opencode.Workplace,
}

var kiloHooks = func() Hooks {
	h := opencodeHooks
	h.Plugin = strings.ReplaceAll(opencodePlugin, "init opencode", "init kilo")
	return h
}()

// kiloFiles are the names of its settings, some of which are opencode's.
var kiloFiles = append([]string{"kilo.jsonc", "kilo.json"}, opencodeFiles...)

var kiloPrefix = func() Prefix {
	p := opencodePrefix
	places := opencodeVariant{"KILO", kiloFiles, ".kilo"}
	p.Start = func(o Occurrence) Launch { return startOpencode(o, places) }
	p.Shared = nil
	for _, path := range opencodePrefix.Shared {
		p.Shared = append(p.Shared, path, strings.ReplaceAll(path, "opencode", "kilo"))
	}
	p.Tokens = 12_600
	return p
}()
