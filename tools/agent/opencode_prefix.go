package agent

import (
	"encoding/json"
	"regexp"
	"sync"
)

// opencodePrefix: its data, with the sessions and the keys, are in a private folder, so that the recorded session leaves
// nothing among the user's. What the variable sets wins over all files but an administrator's.
var opencodePrefix = Prefix{
	Turn: []string{"bash", "read"},
	Start: func(o Occurrence) Launch {
		config := map[string]any{"autoupdate": false, "share": "disabled", "provider": map[string]any{
			"anthropic": map[string]any{"options": map[string]any{"baseURL": o.URL + "/v1", "apiKey": NoKey}},
		}}
		content, _ := json.Marshal(config) // texts
		return Launch{
			Args: []string{"run", o.Prompt},
			Env: map[string]string{"OPENCODE_CONFIG_CONTENT": string(content), "XDG_DATA_HOME": o.Path("data"),
				"OPENCODE_DISABLE_MODELS_FETCH": "1", "OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_LSP_DOWNLOAD": "1"},
		}
	},
	Shared: []string{"opencode.json", "opencode.jsonc", ".opencode/opencode.json", ".opencode/opencode.jsonc", ".opencode/skills", ".opencode/skill",
		".opencode/agents", ".opencode/agent", ".opencode/plugins", ".opencode/plugin", ".claude/skills", ".agents/skills"},
	Started:    []string{"plugin"},
	SwitchesIn: InServers,
	Switch:     opencodeSwitch,
	Tokens:     8_500,
	Listings:   opencodeListings,
	ServerTool: ServerTool{Between: "_", Plain: nameChars},
}

var opencodeListings = sync.OnceValue(func() []Listing {
	return []Listing{
		{"memory", regexp.MustCompile(`(?s)Instructions from: \S.*?(?:\n<mcp_instructions>|\nSkills provide specialized instructions|\z)`), regexp.MustCompile(`(?m)^Instructions from: (\S.*)$`)},
		{"other", regexp.MustCompile(`(?s)<mcp_instructions>.*?</mcp_instructions>`), regexp.MustCompile(`[ \t]*<server name="([^"]+)">`)},
		{"skill", regexp.MustCompile(skillList), regexp.MustCompile(skillItem)},
		{"agent", regexp.MustCompile(`(?s)Available agent types and the tools they have access to:\n.*`), regexp.MustCompile(listItem)},
	}
})

func opencodeSwitch(t Thing) *Switch {
	switch t.Kind {
	case "skill":
		return &Switch{Path: []string{"permission", "skill", t.Name}, Value: "deny"}
	case "agent":
		return &Switch{Path: []string{"agent", t.Name, "disable"}, Value: true}
	case "server":
		return &Switch{Path: []string{"mcp", t.Name, "enabled"}, Value: false}
	}
	return &Switch{Path: []string{"permission", t.Name}, Value: "deny"}
}
