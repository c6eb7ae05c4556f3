// Package restriction finds in a client's configuration what restricts the tools of its MCP servers, and what selects
// them by name.
package restriction

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/runnerfsm/setup"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

// Source says where a client's rules are.
type Source struct {
	Client string
	File   string   // the client's configuration
	Paths  []string // further files with the client's rules of what its tools may do
	Dir    string   // folder with more such files, in folders of their own; "": none
	Unread []string // names of sources of rules that are not read: each may concern every server
}

// limits are the fields of an entry by which clients restrict a server's tools. The gateway has
// no such rules, and the client's would not match the names that it shows.
var limits = []string{"includeTools", "excludeTools", "enabledTools", "disabledTools", "enabled_tools", "disabled_tools",
	"default_tools_approval_mode", "tools"}

// Stays returns the reason why a server has to stay with the client: moving it would allow what
// the client's configuration forbids or asks for, or start it in another way. It returns "" if the server can be moved.
func Stays(client, name string, entry map[string]any, rules []Rule) string {
	for _, field := range limits {
		if entry[field] != nil {
			return field + " restricts its tools"
		}
	}
	for _, rule := range rules {
		switch {
		case rule.allows || !rule.concerns(name):
		case rule.unread:
			return rule.text + " may restrict it, and is not read"
		default:
			return fmt.Sprintf("the rule %s restricts it", rule.text)
		}
	}
	return Lacking(agent.Named(client), entry)
}

// Allowance is a rule that allows tools of a moved server and matches none behind the gateway.
type Allowance struct {
	Rule   string // as it is written
	Server string
	Tool   string // the part of the rule that names the tool; "*": all; "": the rule has another form
}

// Stale returns the rules that allow tools of moved servers and match nothing behind the gateway.
func Stale(rules []Rule, moved map[string]any) (list []Allowance) {
	for _, r := range rules {
		known := slices.ContainsFunc(list, func(a Allowance) bool { return a.Rule == r.text })
		if !r.allows || known || slices.Contains(everything, r.text) {
			continue
		}
		for _, server := range sortedKeys(moved) {
			if r.concerns(server) {
				list = append(list, Allowance{r.text, server, toolIn(r.text, server)})
				break
			}
		}
	}
	return list
}

// toolIn returns the part of a rule after the server, "*" if there is none, or "" for a rule in another form than Claude Code's.
func toolIn(rule, server string) string {
	for _, name := range names(server) {
		rest, is := strings.CutPrefix(rule, "mcp__"+name)
		tool, parted := strings.CutPrefix(rest, "__")
		switch {
		case is && rest == "":
			return "*"
		case is && parted && !strings.ContainsAny(tool, "()"):
			return tool
		}
	}
	return ""
}

// JSON returns the client's rules that forbid something, make it ask, or select tools by name: from its configuration,
// from the files in Paths and below Dir, and from those of the projects that the configuration names.
func (s Source) JSON(file *setup.JSON) ([]Rule, error) {
	if err := s.serverLists(file); err != nil {
		return nil, err
	}
	rules := append(s.unread(), restrictions(s.Client, file)...)
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

// projectFolders returns the folders with settings of the projects that a client's configuration names.
func projectFolders(client string, file *setup.JSON) (dirs []string) {
	folder := agent.Named(client).Restrictions.Project
	if folder == "" {
		return nil
	}
	projects, _ := file.Get("projects").(map[string]any)
	for _, project := range sortedKeys(projects) {
		dir := filepath.Join(project, folder)
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

func restrictions(client string, file *setup.JSON) (rules []Rule) {
	for _, s := range agent.Named(client).Restrictions.Settings {
		for _, value := range values(file.Get(), s.Path) {
			rules = append(rules, rulesOf(s, value)...)
		}
	}
	return append(rules, hookRules(file.Get("hooks"))...)
}

// values returns the values at a path, in which "*" stands for every member.
func values(data any, path []string) []any {
	if len(path) == 0 {
		return []any{data}
	}
	members, _ := data.(map[string]any)
	names := []string{path[0]}
	if path[0] == "*" {
		names = sortedKeys(members)
	}
	var found []any
	for _, name := range names {
		if members[name] != nil {
			found = append(found, values(members[name], path[1:])...)
		}
	}
	return found
}

// rulesOf returns the rules in a value of a setting.
func rulesOf(s agent.Setting, value any) []Rule {
	switch s.As {
	case agent.Refuses:
		return patterns(Texts(value)...)
	case agent.RefusesTools:
		return toolRules(Texts(value)...)
	case agent.RefusesServers:
		return patterns(serverNames(value)...)
	case agent.AllowsMembers:
		return patterns(refusing(value)...)
	case agent.Allows:
		return allowances(Texts(value)...)
	}
	return []Rule{{text: strings.Join(s.Path, "."), concerns: func(string) bool { return true }}}
}

// refusing returns the names that an object switches off or does not simply allow.
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
	r := agent.Named(s.Client).Restrictions
	for _, path := range r.Chosen {
		if file.Get(path...) != nil {
			return fmt.Errorf("%s names the servers that may be used; move them by hand (docs/GATEWAY.md)", strings.Join(path, "."))
		}
	}
	for _, setting := range r.Settings {
		denied, _ := file.Get(setting.Path...).([]any)
		if setting.As == agent.RefusesServers && len(serverNames(denied)) < len(denied) {
			return fmt.Errorf("%s names servers by their command or address; move servers by hand (docs/GATEWAY.md)", strings.Join(setting.Path, "."))
		}
	}
	return nil
}

// serverNames returns the names of servers in a list of objects.
func serverNames(list any) (names []string) {
	entries, _ := list.([]any)
	for _, e := range entries {
		entry, _ := e.(map[string]any)
		if name, ok := entry["serverName"].(string); ok {
			names = append(names, name)
		}
	}
	return names
}
