package gateway

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mcp-pruner/cmd/internal/clientconfig"
)

// limits are the fields of an entry by which clients restrict a server's tools. The gateway has
// no such rules, and the client's would not match the names that it shows.
var limits = []string{"includeTools", "excludeTools", "enabledTools", "disabledTools", "enabled_tools", "disabled_tools",
	"default_tools_approval_mode", "tools"}

// stays returns the reason why a server has to stay with the client: moving it would allow what
// the client's configuration forbids or asks for. It returns "" if the server can be moved.
func (t Takeover) stays(name string, entry map[string]any, rules []string) string {
	for _, field := range limits {
		if entry[field] != nil {
			return field + " restricts its tools"
		}
	}
	for _, rule := range rules {
		if ruleOf(rule, name) {
			return fmt.Sprintf("the rule %s restricts it", rule)
		}
	}
	return ""
}

// ruleOf reports whether a rule concerns a server: by its name alone, or by the names of its tools
// as Claude Code (mcp__NAME__tool), opencode (NAME_tool) and Cursor (Mcp(NAME:tool)) write them, with
// or without wildcards. A rule for everything holds for the gateway, too.
func ruleOf(rule, server string) bool {
	head, _, wild := strings.Cut(rule, "*")
	for _, tools := range []string{"mcp__" + server + "__", server + "_", "Mcp(" + server + ":"} {
		if strings.HasPrefix(rule, tools) || wild && rule != "*" && strings.HasPrefix(tools, head) {
			return true
		}
	}
	return rule == server || rule == "mcp__"+server
}

// rules returns the client's rules that forbid something or make it ask, from its configuration,
// from the files in Rules, and from those of the projects that the configuration names.
func (t Takeover) rules(file *clientconfig.JSON) ([]string, error) {
	rules := restrictions(t.Client, file)
	for _, path := range slices.Concat(t.Rules, projectRules(t.Client, file)) {
		text, err := clientconfig.File{Path: path}.Read()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if text == nil {
			continue
		}
		more, err := clientconfig.ParseJSON(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if err := t.serverLists(more); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		rules = append(rules, restrictions(t.Client, more)...)
	}
	return rules, nil
}

// projectRules returns the paths of the settings of the projects that Claude Code has worked in.
func projectRules(client string, file *clientconfig.JSON) (paths []string) {
	if client != "claude" {
		return nil
	}
	projects, _ := file.Get("projects").(map[string]any)
	for _, project := range slices.Sorted(maps.Keys(projects)) {
		dir := filepath.Join(project, ".claude")
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			paths = append(paths, filepath.Join(dir, "settings.json"), filepath.Join(dir, "settings.local.json"))
		}
	}
	return paths
}

func restrictions(client string, file *clientconfig.JSON) (rules []string) {
	switch client {
	case "claude":
		rules = slices.Concat(texts(file.Get("permissions", "deny")), texts(file.Get("permissions", "ask")), deniedServers(file))
		projects, _ := file.Get("projects").(map[string]any)
		for _, path := range slices.Sorted(maps.Keys(projects)) {
			project, _ := projects[path].(map[string]any)
			rules = append(rules, texts(project["disabledMcpServers"])...)
		}
	case "cursor":
		rules = texts(file.Get("permissions", "deny"))
	case "gemini":
		rules = append(texts(file.Get("mcp", "excluded")), texts(file.Get("excludeMCPServers"))...)
	case "opencode":
		rules = append(refusing(file.Get("tools")), refusing(file.Get("permission"))...)
		for _, kind := range []string{"agent", "mode"} {
			agents, _ := file.Get(kind).(map[string]any)
			for _, name := range slices.Sorted(maps.Keys(agents)) {
				agent, _ := agents[name].(map[string]any)
				rules = append(rules, slices.Concat(refusing(agent["tools"]), refusing(agent["permission"]))...)
			}
		}
	}
	return rules
}

// refusing returns the names that an object of opencode switches off or does not simply allow.
func refusing(object any) (names []string) {
	entries, _ := object.(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		if value := entries[name]; value != true && value != "allow" {
			names = append(names, name)
		}
	}
	return names
}

func texts(list any) (out []string) {
	entries, _ := list.([]any)
	for _, e := range entries {
		if text, ok := e.(string); ok {
			out = append(out, text)
		}
	}
	return out
}

// serverLists returns an error if the client's rules choose servers in a way that would not apply behind the gateway: by a
// list of those that may be used, or by their command or address.
func (t Takeover) serverLists(file *clientconfig.JSON) error {
	allowed := map[string][][]string{"gemini": {{"mcp", "allowed"}, {"allowMCPServers"}}, "claude": {{"allowedMcpServers"}}}
	for _, path := range allowed[t.Client] {
		if file.Get(path...) != nil {
			return fmt.Errorf("%s names the servers that may be used; move them by hand (docs/GATEWAY.md)", strings.Join(path, "."))
		}
	}
	if denied, ok := file.Get("deniedMcpServers").([]any); ok && t.Client == "claude" && len(deniedServers(file)) < len(denied) {
		return errors.New("deniedMcpServers names servers by their command or address; move servers by hand (docs/GATEWAY.md)")
	}
	return nil
}

// deniedServers returns the names of the servers that settings of Claude Code refuse by name.
func deniedServers(settings *clientconfig.JSON) (names []string) {
	entries, _ := settings.Get("deniedMcpServers").([]any)
	for _, e := range entries {
		entry, _ := e.(map[string]any)
		if name, ok := entry["serverName"].(string); ok {
			names = append(names, name)
		}
	}
	return names
}
