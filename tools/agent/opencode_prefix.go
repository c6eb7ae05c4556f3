package agent

import (
	"encoding/json"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// opencodePrefix: its data, with the sessions and the keys, are in a private folder, so that the recorded session leaves
// nothing among the user's. What the variable sets wins over all files but an administrator's. Only the providers that it sends
// to the stand-in are enabled.
var opencodePrefix = Prefix{
	Turn:  []string{"bash", "read"},
	Start: func(o Occurrence) Launch { return startOpencode(o, opencodePlaces) },
	Shared: []string{"opencode.json", "opencode.jsonc", ".opencode/opencode.json", ".opencode/opencode.jsonc", ".opencode/skills", ".opencode/skill",
		".opencode/agents", ".opencode/agent", ".opencode/plugins", ".opencode/plugin", ".claude/skills", ".agents/skills"},
	Started:    []string{"plugin"},
	SwitchesIn: InServers,
	Switch:     opencodeSwitch,
	Tokens:     8_500,
	Listings:   opencodeListings,
	ServerTool: ServerTool{Between: "_", Plain: nameChars},
}

// opencodeVariant is where opencode, or a client that began as its copy, has its settings.
type opencodeVariant struct {
	variables string   // beginning of the names of its variables
	files     []string // names of its settings
	project   string   // folder of a project that has them
}

var opencodePlaces = opencodeVariant{"OPENCODE", opencodeFiles, ".opencode"}

func startOpencode(o Occurrence, v opencodeVariant) Launch {
	settings := v.settings(o)
	providers, byName := opencodeProviders(settings), map[string]any{}
	for _, name := range providers {
		byName[name] = map[string]any{"options": map[string]any{"baseURL": o.URL + "/v1", "apiKey": NoKey}}
	}
	config := map[string]any{"autoupdate": false, "share": "disabled", "enabled_providers": providers, "provider": byName}
	if servers := opencodeServers(settings, o.Alone); len(servers) > 0 {
		config["mcp"] = servers
	}
	content, _ := json.Marshal(config) // texts
	l := Launch{
		Args: []string{"run", o.Prompt},
		Env:  map[string]string{v.variables + "_CONFIG_CONTENT": string(content), "XDG_DATA_HOME": o.Path("data"), npmOffline: "true"},
	}
	for _, off := range []string{"MODELS_FETCH", "AUTOUPDATE", "LSP_DOWNLOAD"} {
		l.Env[v.variables+"_DISABLE_"+off] = "1"
	}
	return l
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

// npmOffline keeps npm from its registry: at each start opencode installs a package for plugins.
const npmOffline = "npm_config_offline"

// opencodeServers returns the servers' entries as they are for the recorded session: they may use npm's registry, or they do
// not start.
func opencodeServers(settings []map[string]any, alone bool) map[string]any {
	entries := map[string]any{}
	for _, data := range settings {
		for name, entry := range memberOf(data, "mcp") {
			server, _ := entry.(map[string]any)
			switch {
			case alone && server != nil:
				entries[name] = withSetting(server, false, "enabled")
			case server["type"] == "local":
				entries[name] = withSetting(server, "false", "environment", npmOffline)
			}
		}
	}
	return entries
}

// settings returns the settings of the user and the project.
func (v opencodeVariant) settings(o Occurrence) (list []map[string]any) {
	for _, dir := range []string{o.Dir, o.Project, filepath.Join(o.Project, v.project)} {
		for _, file := range v.files {
			list = append(list, o.Settings(filepath.Join(dir, file)))
		}
	}
	return list
}

// opencodeProviders returns the providers that the user's and the project's settings name, or else the one that opencode
// offers first.
func opencodeProviders(settings []map[string]any) (names []string) {
	for _, data := range settings {
		for name := range memberOf(data, "provider") {
			names = append(names, name)
		}
		names = append(names, modelProviders(data)...)
	}
	if names == nil {
		return []string{"anthropic"}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// modelProviders returns the providers of all models that settings name, as PROVIDER/MODEL.
func modelProviders(data map[string]any) (names []string) {
	for key, value := range data {
		switch v := value.(type) {
		case string:
			if provider, _, ok := strings.Cut(v, "/"); ok && (key == "model" || key == "small_model") {
				names = append(names, provider)
			}
		case map[string]any:
			if key != "provider" {
				names = append(names, modelProviders(v)...)
			}
		}
	}
	return names
}
