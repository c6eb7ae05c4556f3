package agent

import (
	"encoding/json"
	"path"
	"strings"
)

// Model is a model of a client.
type Model struct {
	Name     string
	Default  bool // the settings name none
	FromCode bool // it calls tools from code, which gets the answer of a hook as an error
}

// String returns the model's name, and that it is the default.
func (m Model) String() string {
	if m.Default {
		return m.Name + " (the default)"
	}
	return m.Name
}

// codexConfig is the name of Codex's settings.
const codexConfig = "config.toml"

// codeOnly is the way of a model of Codex, and the feature for all of them, that calls tools from code alone.
const codeOnly = "code_mode_only"

// codexModel is an entry of the list that `codex debug models` prints. The first one that is shown is the default.
type codexModel struct {
	Slug     string `json:"slug"`
	Mode     string `json:"tool_mode"`
	Shown    string `json:"visibility"`
	Priority int    `json:"priority"`
}

func codexUses(list []byte, read func(string) map[string]any) (Model, error) {
	var all struct {
		Models []codexModel `json:"models"`
	}
	if err := json.Unmarshal(list, &all); err != nil {
		return Model{}, err
	}
	config := read(codexConfig)
	name, _ := config["model"].(string)
	if profile, _ := config["profile"].(string); profile != "" {
		own := read(path.Base(profile) + ".config.toml") // of newer versions
		for _, from := range []map[string]any{memberOf(config, "profiles", profile), own} {
			if model, ok := from["model"].(string); ok {
				name = model
			}
		}
	}
	used := codexModel{Priority: 1 << 30}
	for _, m := range all.Models {
		if name == "" && m.Shown == "list" && m.Priority < used.Priority ||
			name != "" && strings.HasPrefix(path.Base(name), m.Slug) && len(m.Slug) > len(used.Slug) {
			used = m
		}
	}
	code := used.Mode == codeOnly || memberOf(config, "features")[codeOnly] == true
	if name == "" {
		return Model{used.Slug, true, code}, nil
	}
	return Model{name, false, code}, nil
}
