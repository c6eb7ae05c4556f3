// Package restriction finds in a client's configuration what restricts the tools of its MCP servers, and what selects
// them by name.
package restriction

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/runnerfsm/setup"
)

// Source says where a client's rules are.
type Source struct {
	Client string
	Paths  []string // further files with the client's rules of what its tools may do
	Dir    string   // folder with more such files, in folders of their own; "": none
}

// limits are the fields of an entry by which clients restrict a server's tools. The gateway has
// no such rules, and the client's would not match the names that it shows.
var limits = []string{"includeTools", "excludeTools", "enabledTools", "disabledTools", "enabled_tools", "disabled_tools",
	"default_tools_approval_mode", "tools"}

// Stays returns the reason why a server has to stay with the client: moving it would allow what
// the client's configuration forbids or asks for. It returns "" if the server can be moved.
func Stays(name string, entry map[string]any, rules []Rule) string {
	for _, field := range limits {
		if entry[field] != nil {
			return field + " restricts its tools"
		}
	}
	for _, rule := range rules {
		if !rule.allows && rule.concerns(name) {
			return fmt.Sprintf("the rule %s restricts it", rule.text)
		}
	}
	return ""
}

// Stale returns the rules that allow tools of moved servers and match nothing behind the gateway.
func Stale(rules []Rule, moved map[string]any) (texts []string) {
	for _, r := range rules {
		if r.allows && slices.ContainsFunc(sortedKeys(moved), r.concerns) && !slices.Contains(texts, r.text) {
			texts = append(texts, r.text)
		}
	}
	return texts
}

// JSON returns the client's rules that forbid something, make it ask, or select tools by name: from its configuration,
// from the files in Paths and below Dir, and from those of the projects that the configuration names.
func (s Source) JSON(file *setup.JSON) ([]Rule, error) {
	if err := s.serverLists(file); err != nil {
		return nil, err
	}
	rules := restrictions(s.Client, file)
	projects := projectFolders(s.Client, file)
	paths := slices.Clone(s.Paths)
	for _, dir := range projects {
		paths = append(paths, filepath.Join(dir, "settings.json"), filepath.Join(dir, "settings.local.json"))
	}
	for _, path := range paths {
		text, err := setup.File{Path: path}.Read()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if text == nil {
			continue
		}
		more, err := setup.ParseJSON(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if err := s.serverLists(more); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		rules = append(rules, restrictions(s.Client, more)...)
	}
	for _, dir := range append(projects, s.Dir) {
		more, err := folderRules(s.Client, dir)
		if err != nil {
			return nil, err
		}
		rules = append(rules, more...)
	}
	return rules, nil
}

// projectFolders returns the folders with settings of the projects that Claude Code has worked in.
func projectFolders(client string, file *setup.JSON) (dirs []string) {
	if client != "claude" {
		return nil
	}
	projects, _ := file.Get("projects").(map[string]any)
	for _, project := range sortedKeys(projects) {
		dir := filepath.Join(project, ".claude")
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

func restrictions(client string, file *setup.JSON) (rules []Rule) {
	switch client {
	case "claude":
		rules = patterns(slices.Concat(Texts(file.Get("permissions", "deny")), Texts(file.Get("permissions", "ask")), deniedServers(file))...)
		projects, _ := file.Get("projects").(map[string]any)
		for _, path := range sortedKeys(projects) {
			project, _ := projects[path].(map[string]any)
			rules = append(rules, patterns(Texts(project["disabledMcpServers"])...)...)
			rules = append(rules, allowances(Texts(project["allowedTools"])...)...)
		}
		rules = append(rules, allowances(slices.Concat(Texts(file.Get("permissions", "allow")), Texts(file.Get("allowedTools")))...)...)
	case "cursor":
		rules = append(patterns(Texts(file.Get("permissions", "deny"))...), allowances(Texts(file.Get("permissions", "allow"))...)...)
	case "gemini":
		rules = patterns(slices.Concat(Texts(file.Get("mcp", "excluded")), Texts(file.Get("excludeMCPServers")))...)
		rules = append(rules, geminiRules(slices.Concat(Texts(file.Get("tools", "exclude")), Texts(file.Get("excludeTools")),
			Texts(file.Get("tools", "confirmationRequired")))...)...)
		rules = append(rules, allowances(slices.Concat(Texts(file.Get("tools", "allowed")), Texts(file.Get("allowedTools")))...)...)
		for _, key := range []string{"policyPaths", "adminPolicyPaths"} {
			if file.Get(key) != nil {
				rules = append(rules, Rule{text: key, concerns: func(string) bool { return true }}) // policies elsewhere, which are not read
			}
		}
	case "opencode":
		rules = patterns(append(refusing(file.Get("tools")), refusing(file.Get("permission"))...)...)
		for _, kind := range []string{"agent", "mode"} {
			agents, _ := file.Get(kind).(map[string]any)
			for _, name := range sortedKeys(agents) {
				agent, _ := agents[name].(map[string]any)
				rules = append(rules, patterns(slices.Concat(refusing(agent["tools"]), refusing(agent["permission"]))...)...)
			}
		}
	}
	return append(rules, hookRules(file.Get("hooks"))...)
}

// refusing returns the names that an object of opencode switches off or does not simply allow.
func refusing(object any) (names []string) {
	entries, _ := object.(map[string]any)
	for _, name := range sortedKeys(entries) {
		if value := entries[name]; value != true && value != "allow" {
			names = append(names, name)
		}
	}
	return names
}

// serverLists returns an error if the client's rules choose servers in a way that would not apply behind the gateway: by a
// list of those that may be used, or by their command or address.
func (s Source) serverLists(file *setup.JSON) error {
	allowed := map[string][][]string{"gemini": {{"mcp", "allowed"}, {"allowMCPServers"}}, "claude": {{"allowedMcpServers"}}}
	for _, path := range allowed[s.Client] {
		if file.Get(path...) != nil {
			return fmt.Errorf("%s names the servers that may be used; move them by hand (docs/GATEWAY.md)", strings.Join(path, "."))
		}
	}
	if denied, ok := file.Get("deniedMcpServers").([]any); ok && s.Client == "claude" && len(deniedServers(file)) < len(denied) {
		return errors.New("deniedMcpServers names servers by their command or address; move servers by hand (docs/GATEWAY.md)")
	}
	return nil
}

// deniedServers returns the names of the servers that settings of Claude Code refuse by name.
func deniedServers(settings *setup.JSON) (names []string) {
	entries, _ := settings.Get("deniedMcpServers").([]any)
	for _, e := range entries {
		entry, _ := e.(map[string]any)
		if name, ok := entry["serverName"].(string); ok {
			names = append(names, name)
		}
	}
	return names
}
