package agent

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// qwenPrefix: Qwen Code writes its version into settings that lack it, and so it is started with a folder of its own. That has a
// copy of the user's settings, and links to all else but sessions and logs.
var qwenPrefix = Prefix{
	Turn: []string{"run_shell_command", "read_file"},
	Start: func(o Occurrence) Launch {
		settings := o.Settings(filepath.Join(o.Dir, "settings.json"))
		for _, path := range []string{"privacy.usageStatisticsEnabled", "telemetry.enabled", "general.enableAutoUpdate"} {
			settings = withSetting(settings, false, strings.Split(path, ".")...)
		}
		if o.Alone {
			settings = withSetting(settings, []any{"none"}, "mcp", "allowed")
		}
		l := Launch{
			Args:  []string{"--auth-type", "openai", "--openai-base-url", o.URL + "/v1", "--openai-api-key", NoKey, "-m", "stand-in", "--yolo", "-p", o.Prompt},
			Files: map[string]any{".qwen/settings.json": settings},
			Env: map[string]string{"QWEN_HOME": o.Path(".qwen"), "OPENAI_API_KEY": NoKey, "OPENAI_BASE_URL": o.URL + "/v1", "OPENAI_MODEL": "",
				"NO_BROWSER": "1", "QWEN_CODE_SUPPRESS_YOLO_WARNING": "1"},
			For:   map[string]string{o.Path(".qwen"): o.Dir},
			Links: map[string]string{},
		}
		shown, err := filepath.Rel(o.Project, o.Path(".qwen")) // paths of memory files begin at the project
		if users, failed := filepath.Rel(o.Project, o.Dir); err == nil && failed == nil {
			l.For[shown] = users
		}
		for _, name := range o.Entries {
			if !slices.Contains(qwenOwn, name) {
				l.Links[".qwen/"+name] = filepath.Join(o.Dir, name)
			}
		}
		return l
	},
	Elsewhere:  [][]string{{"security", "auth", "selectedType"}, {"security", "auth", "enforcedType"}, {"security", "auth", "baseUrl"}},
	Shared:     []string{".qwen/settings.json", ".qwen/skills", ".qwen/agents", ".qwen/extensions", ".agents/skills"},
	Started:    []string{"hooks"},
	SwitchesIn: InServers,
	Switch: func(t Thing) *Switch {
		switch t.Kind {
		case "skill":
			return &Switch{[]string{"skills", "disabled"}, true, t.Name}
		case "server":
			return &Switch{[]string{"mcp", "excluded"}, true, t.Name}
		case "tool": // tools.exclude, which Gemini CLI has, leaves a server's tool in the list
			return &Switch{[]string{"tools", "disabled"}, true, t.Name}
		}
		return nil
	},
	Tokens:     16_100,
	Listings:   qwenListings,
	ServerTool: ServerTool{Before: "mcp__", Between: "__", Plain: nameChars},
}

// qwenOwn names the entries of the client's folder that the recorded session does not share with the user's.
var qwenOwn = []string{"settings.json", "projects", "tmp", "usage_record.jsonl", "oauth_creds.json", "extension-store"}

var qwenListings = sync.OnceValue(func() []Listing {
	return []Listing{
		{"memory", regexp.MustCompile(`(?s)--- Context from: .*?\n--- End of Context from`), regexp.MustCompile(`(?m)^--- Context from: (.+) ---$`)},
		{"skill", regexp.MustCompile(skillList), regexp.MustCompile(skillItem)},
		{"tool", regexp.MustCompile("(?s)The following (?:MCP )?tools [^\n]*reachable through `tool_search`.*?</system-reminder>"), regexp.MustCompile(`(?m)^- "([^"]+)": `)},
	}
})
