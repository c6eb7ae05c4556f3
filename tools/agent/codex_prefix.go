package agent

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// codexPrefix: what the command line sets wins over the user's and the project's files.
var codexPrefix = Prefix{
	Turn: append(slices.Clone(shellTools), CodexCode),
	Start: func(o Occurrence) Launch {
		set := []string{
			`model_provider="stand_in"`, `model_providers.stand_in.name="stand_in"`, `model_providers.stand_in.base_url="` + o.URL + `/v1"`,
			`model_providers.stand_in.wire_api="responses"`, `model_providers.stand_in.env_key="MCP_PRUNER_STAND_IN_KEY"`,
			`model_providers.stand_in.request_max_retries=0`, `model_providers.stand_in.stream_max_retries=0`,
			`features.unbounded_connection_retries=false`, `features.enable_request_compression=false`,
			`analytics.enabled=false`, `otel.exporter="none"`, `check_for_update_on_startup=false`,
		}
		if o.Settings(filepath.Join(o.Dir, "config.toml"))["plugins"] == nil { // without plugins it need not ask their market
			set = append(set, "features.plugins=false")
		}
		if o.Alone {
			for _, name := range o.Servers {
				set = append(set, "mcp_servers."+name+".enabled=false")
			}
		}
		l := Launch{
			Args: []string{"exec", "--ephemeral", "--skip-git-repo-check", "--sandbox", "read-only"},
			Env:  map[string]string{"MCP_PRUNER_STAND_IN_KEY": NoKey},
		}
		for _, s := range set {
			l.Args = append(l.Args, "--config", s)
		}
		l.Args = append(l.Args, o.Prompt)
		return l
	},
	History: []string{"sessions", "shell_snapshots"},
	Trust: &Trust{
		File: File{Name: "config.toml", As: TOML},
		In: func(data map[string]any, folder string) bool {
			return above(folder, func(f string) bool { return memberOf(data, "projects", f)["trust_level"] == "trusted" })
		},
	},
	Elsewhere:  [][]string{{"model_provider"}}, // managed_config.toml wins over --config
	Shared:     []string{".codex/config.toml", ".codex/skills", ".codex/agents", ".agents/skills"},
	Started:    []string{"hooks", "notify"},
	SwitchesIn: InServers,
	Switch:     codexSwitch,
	Nested:     codexNested,
	Tokens:     11_100,
	Listings:   codexListings,
	ServerTool: ServerTool{Before: "mcp__", Between: "__", Plain: nameChars},
}

var codexListings = sync.OnceValue(func() []Listing {
	return []Listing{
		{"memory", regexp.MustCompile(`(?s)# AGENTS\.md instructions for .*?(?:</INSTRUCTIONS>|\z)`), regexp.MustCompile(`# (AGENTS\.md) instructions for `)},
		{"skill", regexp.MustCompile(`(?s)### Available skills\n.*?(?:\n### |</skills_instructions>|\z)`), regexp.MustCompile(listItem)},
		// In code mode a model calls the tools by code, and the definition of exec has theirs.
		{"tool", regexp.MustCompile("(?s)\n### `\\w+`\n.*"), regexp.MustCompile("(?m)^### `(\\w+)`$")},
	}
})

// codexFeatures are the features that bring tools, by the tools' names or how these begin.
var codexFeatures = []struct{ tool, feature string }{
	{"multi_agent_v1", "multi_agent"}, {"collaboration", "multi_agent"}, {"create_goal", "goals"}, {"get_goal", "goals"}, {"update_goal", "goals"},
	{"image_generation", "image_generation"},
}

func codexSwitch(t Thing) *Switch {
	switch t.Kind {
	case "skill":
		return &Switch{Path: []string{"skills", "config"}, List: true, Value: map[string]any{"name": t.Name, "enabled": false}}
	case "server":
		return &Switch{Path: []string{"mcp_servers", t.Name, "enabled"}, Value: false}
	case "tool":
		if t.Name == "web_search" {
			return &Switch{Path: []string{"web_search"}, Value: "disabled"}
		}
		for _, f := range codexFeatures {
			if t.Server == "" && (t.Name == f.tool || strings.HasPrefix(t.Name, f.tool+"__")) {
				return &Switch{Path: []string{"features", f.feature}, Value: false}
			}
		}
	}
	return nil
}
