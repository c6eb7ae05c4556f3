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
	Turn: []string{"bash", "read"},
	Start: func(o Occurrence) Launch {
		providers, byName := opencodeProviders(o), map[string]any{}
		for _, name := range providers {
			byName[name] = map[string]any{"options": map[string]any{"baseURL": o.URL + "/v1", "apiKey": NoKey}}
		}
		config := map[string]any{"autoupdate": false, "share": "disabled", "enabled_providers": providers, "provider": byName}
		if o.Alone {
			off := map[string]any{}
			for _, name := range o.Servers {
				off[name] = map[string]any{"enabled": false}
			}
			config["mcp"] = off
		}
		content, _ := json.Marshal(config) // texts
		return Launch{
			Args: []string{"run", o.Prompt},
			Env: map[string]string{"OPENCODE_CONFIG_CONTENT": string(content), "XDG_DATA_HOME": o.Path("data"),
				"OPENCODE_DISABLE_MODELS_FETCH": "1", "OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_LSP_DOWNLOAD": "1"},
		}
	},
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

// opencodeProviders returns the providers that the user's and the project's settings name, or else the one that opencode
// offers first.
func opencodeProviders(o Occurrence) (names []string) {
	for _, dir := range []string{o.Dir, o.Project, filepath.Join(o.Project, ".opencode")} {
		for _, file := range opencodeFiles {
			data := o.Settings(filepath.Join(dir, file))
			for name := range memberOf(data, "provider") {
				names = append(names, name)
			}
			names = append(names, modelProviders(data)...)
		}
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
