package agent

import (
	"regexp"
	"sync"
)

// claudePrefix: the request is the one with its own Bash or Read; helper requests come first. Flags are settings of the
// command line, which win over those of the user and the project but not over an administrator's.
var claudePrefix = Prefix{
	Turn: []string{"Bash", "Read"},
	Start: func(o Occurrence) Launch {
		env := map[string]any{
			"ANTHROPIC_BASE_URL": o.URL, "ANTHROPIC_API_KEY": NoKey, "ANTHROPIC_AUTH_TOKEN": "", "ANTHROPIC_CUSTOM_HEADERS": "",
			"CLAUDE_CODE_USE_BEDROCK": "", "CLAUDE_CODE_USE_VERTEX": "", "CLAUDE_CODE_USE_FOUNDRY": "",
			"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_TELEMETRY": "1", "DISABLE_ERROR_REPORTING": "1", "DISABLE_AUTOUPDATER": "1",
		}
		l := Launch{
			Args:  []string{"-p", o.Prompt, "--no-session-persistence", "--settings", o.Path("settings.json")},
			Env:   map[string]string{"CLAUDECODE": "", "CLAUDE_CODE_ENTRYPOINT": "", "CLAUDE_CODE_SSE_PORT": ""},
			Files: map[string]any{"settings.json": map[string]any{"env": env}},
		}
		for name, value := range env {
			l.Env[name], _ = value.(string)
		}
		if o.Alone {
			l.Args = append(l.Args, "--strict-mcp-config")
		}
		return l
	},
	History:    []string{"projects"},
	ServerTool: claudeTools,
	Trust: &Trust{
		File: File{Name: ".claude.json", In: &Folder{Variable: "CLAUDE_CONFIG_DIR"}, As: StrictJSON},
		In: func(data map[string]any, folder string) bool {
			return above(folder, func(f string) bool { return memberOf(data, "projects", f)["hasTrustDialogAccepted"] == true })
		},
	},
	Elsewhere: [][]string{{"env", "ANTHROPIC_BASE_URL"}, {"env", "CLAUDE_CODE_USE_BEDROCK"}, {"env", "CLAUDE_CODE_USE_VERTEX"},
		{"env", "CLAUDE_CODE_USE_FOUNDRY"}, {"env", "ANTHROPIC_API_KEY"}, {"env", "ANTHROPIC_AUTH_TOKEN"}, {"apiKeyHelper"}},
	Shared:     []string{".claude/settings.json", ".mcp.json", ".claude/skills", ".claude/agents", ".claude/commands"},
	Started:    []string{"hooks", "enabledPlugins"},
	SwitchesIn: InHooks,
	Own:        ".claude/settings.local.json",
	Switch:     claudeSwitch,
	Tokens:     13_100,
	Listings:   claudeListings,
}

var claudeTools = ServerTool{Before: "mcp__", Between: "__", Plain: nameChars}

var claudeListings = sync.OnceValue(func() []Listing {
	return []Listing{
		{"memory", regexp.MustCompile(`(?s)\nContents of \S.*?(?:</system-reminder>|\n\s*IMPORTANT: this context|\z)`), regexp.MustCompile(`(?m)^Contents of (\S.*?)(?: \([^()]*\))?:$`)},
		{"tool", regexp.MustCompile(`(?s)The following deferred tools are now available via ToolSearch\..*?:\n.*?\n(?:\n|</system-reminder>|\z)`), regexp.MustCompile(`(?m)^(\w[\w-]*)$`)},
		{"agent", regexp.MustCompile(`(?s)Available agent types for the Agent tool:\n.*?(?:\n\n|</system-reminder>|\z)`), regexp.MustCompile(listItem)},
		{"other", regexp.MustCompile(`(?s)# MCP Server Instructions\n.*?(?:\nThe following skills are available|</system-reminder>|\z)`), regexp.MustCompile(`(?m)^## (.+)$`)},
		{"skill", regexp.MustCompile(`(?s)The following skills are available for use with the Skill tool:\n\n.*?(?:\n\n|</system-reminder>|\z)`), regexp.MustCompile(listItem)},
	}
})

// claudeSwitch: rules with a bare name take the definition out of the request. A rule for a server takes its tools out, but not
// its instructions.
func claudeSwitch(t Thing) *Switch {
	deny := []string{"permissions", "deny"}
	switch t.Kind {
	case "skill":
		return &Switch{Path: []string{"skillOverrides", t.Name}, Value: "off"}
	case "agent":
		return &Switch{deny, true, "Agent(" + t.Name + ")"}
	case "server":
		return &Switch{deny, true, "mcp__" + claudeTools.Name(t.Name)}
	}
	return &Switch{deny, true, t.Name}
}
