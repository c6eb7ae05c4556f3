package agent

import (
	_ "embed"
	"path/filepath"
	"regexp"
	"sync"
)

// Cline is the Cline CLI. docs/clients/cline.md has what was measured.
var Cline = Client{
	Name:      "cline",
	Title:     "Cline",
	Announces: "@cline/core",
	Files: Files{
		Folder:   Folder{Variable: "CLINE_DIR", Default: ".cline"},
		Hooks:    File{Name: "plugins/mcp-pruner.js"},
		Servers:  File{Name: clineServers, As: StrictJSON},
		Settings: File{Name: clineSettings, As: StrictJSON},
	},
	Transcripts: clineTranscripts,
	// It shows 8,000 characters of the result as JSON, in which each line break counts twice.
	Results: Results{Limits: map[string]Limit{AnyTool: {Bytes: 6_500}}},
	Hooks:   &clineHooks,
	Servers: ServerList{Member: "mcpServers", Entry: func(program string, env map[string]any) map[string]any {
		return map[string]any{"type": "stdio", "command": program, "env": env}
	}},
	Prefix: &clinePrefix,
}

const (
	clineServers  = "data/settings/cline_mcp_settings.json"
	clineSettings = "data/settings/global-settings.json" // what is no strict JSON it ignores without a word
)

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

// clinePrefix: Cline is started with a folder of its own for its data, which has the stand-in as its only provider, and with the
// user's settings, servers, plugins, rules and skills. With a local backend it leaves no server of its own behind.
var clinePrefix = Prefix{
	Turn: []string{"run_commands", "read_files"},
	Start: func(o Occurrence) Launch {
		l := Launch{
			Args: []string{"-P", "openai-compatible", "-m", "stand-in", o.Prompt + " "}, // a single word is taken for a command
			Env: map[string]string{
				"CLINE_DATA_DIR":             o.Path("data"),
				"CLINE_GLOBAL_SETTINGS_PATH": filepath.Join(o.Dir, filepath.FromSlash(clineSettings)),
				"CLINE_MCP_SETTINGS_PATH":    filepath.Join(o.Dir, filepath.FromSlash(clineServers)),
				"CLINE_SESSION_BACKEND_MODE": "local", "CLINE_TELEMETRY_DISABLED": "1", "CLINE_NO_AUTO_UPDATE": "1",
				"CLINE_PROVIDER_SETTINGS_PATH": "", "CLINE_SESSION_DATA_DIR": "", "CLINE_DB_DATA_DIR": "", "CLINE_TEAM_DATA_DIR": "",
			},
			Files: map[string]any{"data/settings/providers.json": map[string]any{
				"version": 1, "lastUsedProvider": "openai-compatible", "modes": map[string]any{},
				"providers": map[string]any{"openai-compatible": map[string]any{
					"settings":  map[string]any{"provider": "openai-compatible", "apiKey": NoKey, "model": "stand-in", "baseUrl": o.URL + "/v1"},
					"updatedAt": "2026-01-01T00:00:00.000Z", "tokenSource": "manual",
				}},
			}},
		}
		if o.Alone {
			l.Env["CLINE_MCP_SETTINGS_PATH"] = o.Path("no-servers.json")
		}
		return l
	},
	Shared:     []string{".clinerules", ".cline/rules", ".cline/skills", ".cline/agents", ".cline/plugins", ".cline/hooks", ".agents/skills"},
	SwitchesIn: InSettings,
	Switch: func(t Thing) *Switch {
		if t.Kind != "tool" {
			return nil
		}
		return &Switch{[]string{"disabledTools"}, true, t.Name}
	},
	Tokens:     4_600,
	Listings:   clineListings,
	ServerTool: ServerTool{Between: "__", Plain: nameChars},
}

var clineListings = sync.OnceValue(func() []Listing {
	return []Listing{{"memory", regexp.MustCompile(`(?s)\n# Rules\n.*\z`), regexp.MustCompile(`(?m)^## (.+)$`)}}
})
