package agent

import (
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// geminiPrefix: no variable and no flag selects how the client logs in, and an administrator's file, which could, must belong
// to root. So it is started with a folder of its own, which has the user's settings with a few changed, and links to all else
// but the user's sessions and accounts.
var geminiPrefix = Prefix{
	Turn: []string{"run_shell_command", "read_file"},
	Start: func(o Occurrence) Launch {
		settings := o.Settings(filepath.Join(o.Dir, "settings.json"))
		for _, s := range []struct {
			path  string
			value any
		}{
			{"security.auth.selectedType", "gemini-api-key"}, {"privacy.usageStatisticsEnabled", false}, {"telemetry.enabled", false},
			{"general.enableAutoUpdate", false}, {"general.enableAutoUpdateNotification", false},
		} {
			settings = withSetting(settings, s.value, strings.Split(s.path, ".")...)
		}
		l := Launch{
			Args:  []string{"--skip-trust", "--approval-mode", "yolo", "--output-format", "json", "-p", o.Prompt},
			Files: map[string]any{".gemini/settings.json": settings},
			Env: map[string]string{"GEMINI_CLI_HOME": o.Folder, "GEMINI_API_KEY": NoKey, "NO_BROWSER": "1",
				"GOOGLE_GEMINI_BASE_URL": o.URL, "GOOGLE_VERTEX_BASE_URL": o.URL, "CODE_ASSIST_ENDPOINT": o.URL,
				"GOOGLE_API_KEY": "", "GOOGLE_GENAI_USE_VERTEXAI": "", "GOOGLE_GENAI_USE_GCA": "", "GEMINI_CLI_USE_COMPUTE_ADC": ""},
			For:   map[string]string{o.Path(".gemini"): o.Dir, o.Folder: filepath.Dir(o.Dir)},
			Links: map[string]string{".agents": filepath.Join(filepath.Dir(o.Dir), ".agents")},
		}
		for _, name := range o.Entries {
			if !slices.Contains(geminiOwn, name) {
				l.Links[".gemini/"+name] = filepath.Join(o.Dir, name)
			}
		}
		if o.Alone {
			l.Args = append(l.Args, "--allowed-mcp-server-names", "none")
		}
		return l
	},
	Trust: &Trust{
		File: File{Name: "trustedFolders.json", As: CommentedJSON},
		In: func(data map[string]any, folder string) bool {
			trusted := false
			above(folder, func(f string) bool {
				trusted = data[f] == "TRUST_FOLDER" || data[f] == "TRUST_PARENT"
				return data[f] != nil // the nearest entry counts
			})
			return trusted
		},
	},
	Elsewhere:  [][]string{{"security", "auth", "selectedType"}, {"security", "auth", "enforcedType"}},
	Shared:     []string{".gemini/settings.json", ".gemini/skills", ".gemini/agents", ".agents/skills"},
	Started:    []string{"hooks"},
	SwitchesIn: InServers,
	Switch:     geminiSwitch,
	Tokens:     12_900,
	Listings:   geminiListings,
	ServerTool: ServerTool{Before: "mcp_", Between: "_", Plain: nameChars + "."},
}

// geminiOwn names the entries of the client's folder that the recorded session does not share with the user's.
var geminiOwn = []string{"settings.json", "tmp", "history", "projects.json", "state.json", "installation_id", "google_accounts.json", "oauth_creds.json"}

// withSetting returns settings with one value set at a path.
func withSetting(settings map[string]any, value any, path ...string) map[string]any {
	settings = maps.Clone(settings)
	if settings == nil {
		settings = map[string]any{}
	}
	if len(path) > 1 {
		inner, _ := settings[path[0]].(map[string]any)
		value = withSetting(inner, value, path[1:]...)
	}
	settings[path[0]] = value
	return settings
}

var geminiListings = sync.OnceValue(func() []Listing {
	return []Listing{
		{"memory", regexp.MustCompile(`(?s)--- Context from: .*?\n(?:--- End of Context from|</\w*context>|\z)`), regexp.MustCompile(`(?m)^--- Context from: (.+) ---$`)},
		{"agent", regexp.MustCompile(`(?s)<available_subagents>.*?</available_subagents>`), regexp.MustCompile(`[ \t]*<subagent>\s*<name>([^<]+)</name>`)},
		{"skill", regexp.MustCompile(skillList), regexp.MustCompile(skillItem)},
		{"other", regexp.MustCompile(`(?s)The following are instructions provided by the tool server .*?---\[end of server instructions\]---`),
			regexp.MustCompile(`The following are instructions provided by the tool server '([^']+)'`)},
	}
})

func geminiSwitch(t Thing) *Switch {
	switch t.Kind {
	case "skill":
		return &Switch{[]string{"skills", "disabled"}, true, t.Name}
	case "agent":
		return &Switch{Path: []string{"agents", "overrides", t.Name, "enabled"}, Value: false}
	case "server":
		return &Switch{[]string{"mcp", "excluded"}, true, t.Name}
	}
	return &Switch{[]string{"tools", "exclude"}, true, t.Name}
}
