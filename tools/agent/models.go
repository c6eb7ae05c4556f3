package agent

import (
	"encoding/json"
	"path"
	"strings"
)

// Models says how to find out which model a client uses unless a run says otherwise.
type Models struct {
	List []string // arguments with which the client's program prints the models that it knows

	// Used returns the model by that list and by the client's settings; read returns a file in the client's folder.
	Used func(list []byte, read func(name string) map[string]any) (Model, error)
}

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

// codexModels: `codex debug models` prints the list that the account has, as Codex itself uses it.
var codexModels = Models{List: []string{"debug", "models"}, Used: codexUses}

// codexModel is an entry of Codex's list. The first one that is shown is the default.
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
	m := Model{}
	m.Name, _ = config["model"].(string)
	if profile, _ := config["profile"].(string); profile != "" {
		own := memberOf(config, "profiles", profile)
		if newer := read(path.Base(profile) + ".config.toml"); newer["model"] != nil { // newer versions keep a profile in a file of its own
			own = newer
		}
		if name, ok := own["model"].(string); ok {
			m.Name = name
		}
	}
	known := codexModel{Priority: 1 << 30}
	for _, c := range all.Models {
		switch {
		case m.Name == "" && c.Shown == "list" && c.Priority < known.Priority:
			known = c
		case m.Name != "" && strings.HasPrefix(path.Base(m.Name), c.Slug) && len(c.Slug) > len(known.Slug):
			known = c
		}
	}
	if m.Name == "" {
		m.Name, m.Default = known.Slug, true
	}
	features := memberOf(config, "features")
	m.FromCode = strings.HasPrefix(known.Mode, "code_mode") || features["code_mode"] == true || features["code_mode_only"] == true
	return m, nil
}
