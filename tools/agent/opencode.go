package agent

import (
	"fmt"
	"regexp"
	"sync"
)

// Opencode is opencode.
var Opencode = Client{
	Name:      "opencode",
	Title:     "opencode",
	Announces: "opencode",
	Files: Files{
		Folder:  Folder{Variable: "XDG_CONFIG_HOME", Default: ".config", Below: "opencode"},
		Hooks:   File{Name: "plugins/mcp-pruner.js"},
		Servers: File{Name: "opencode.json", Or: opencodeFiles, As: JSONC},
	},
	// Versions before 1.2 kept JSON files. The folder has clones of repositories, too, in which nobody wants to search.
	Transcripts: Transcripts{
		In:     &Folder{Variable: "XDG_DATA_HOME", Default: ".local/share", Below: "opencode"},
		Folder: "storage/session", Database: "opencode*.db",
	},
	Results: Results{
		Limits: map[string]Limit{
			"grep":  {Lines: 100, Bytes: 45_000},
			AnyTool: {Lines: 1950, Bytes: 45_000},
		},
		HidesErrorData: true,
	},
	Workplace: &Workplace{Told: true, Line: sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`environment you are running in:\n<env>\n\s*Working directory: (.+)`)
	})},
	Hooks:  &opencodeHooks,
	Prefix: &opencodePrefix,
	Servers: ServerList{Member: "mcp", Entry: func(program string, env map[string]any) map[string]any {
		return map[string]any{"type": "local", "command": []any{program}, "environment": env}
	}},
	Proxy: &Proxy{
		In: InServers, URL: []string{"provider", "anthropic", "options", "baseURL"}, Suffix: "/v1",
		Headers: []string{"provider", "anthropic", "options", "headers"},
	},
	Base: &Base{Variable: "OPENCODE_CONFIG_CONTENT"},
	Rule: &Rule{
		In: InServers, Path: []string{"permission", "bash"}, Asks: "opencode asks", Asked: opencodeAsks,
		Line:    func(program string) string { return program + " recover *" },
		Pattern: regexp.MustCompile(`^(.*mcp-pruner(?:\.exe)?) recover \*$`),
	},
	Definitions: opencodeDefinitions,
}

// opencodeAsks: opencode asks before a command only where its settings say so.
func opencodeAsks(get func(path ...string) any) (asks bool, first string) {
	all := get("permission")
	if byTool, ok := all.(map[string]any); ok {
		if _, byCommand := byTool["bash"].(map[string]any); byCommand {
			return true, ""
		}
		if all = byTool["bash"]; all == nil {
			all = byTool["*"]
		}
	}
	if all == nil || all == "allow" {
		return false, ""
	}
	return true, fmt.Sprintf("write permission.bash as {\"*\": %q}", fmt.Sprint(all))
}

// opencodeFiles are the names of its settings.
var opencodeFiles = []string{"opencode.jsonc", "opencode.json", "config.json"}
