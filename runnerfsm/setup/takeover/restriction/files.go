package restriction

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/mcp-pruner/mcp-pruner/runnerfsm/setup"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

// maxRuleFiles bounds the number of files that are read below one folder.
const maxRuleFiles = 5000

// unread returns a rule for each source of rules that is not read. It concerns every server.
func (s Source) unread() (rules []Rule) {
	sources := slices.Clone(s.Unread)
	for _, pattern := range agent.Named(s.Client).Restrictions.Unread {
		sources = append(sources, found(s.Dir, pattern)...)
	}
	for _, source := range sources {
		if source != s.File {
			rules = append(rules, Rule{text: source, unread: true, concerns: func(string) bool { return true }})
		}
	}
	return rules
}

// found returns the files of a pattern: an absolute path, or one below a folder. A folder's own name is no pattern.
func found(dir, pattern string) (paths []string) {
	rest, absolute := strings.CutPrefix(pattern, "/")
	switch {
	case absolute:
		dir = "/"
	case dir == "":
		return nil
	}
	for strings.HasPrefix(rest, "../") {
		dir, rest = filepath.Dir(dir), rest[len("../"):]
	}
	names, _ := fs.Glob(os.DirFS(dir), rest) // the patterns are right
	for _, name := range names {
		paths = append(paths, filepath.Join(dir, filepath.FromSlash(name)))
	}
	return paths
}

// folderRules returns the rules in the files below a client's folder.
func folderRules(client, dir string) (rules []Rule, err error) {
	if dir == "" {
		return nil, nil
	}
	files := 0
	for _, folder := range agent.Named(client).Restrictions.Folders {
		err = filepath.WalkDir(filepath.Join(dir, folder.Name), func(path string, entry fs.DirEntry, err error) error {
			switch {
			case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission) && entry != nil && entry.IsDir():
				return nil
			case err != nil:
				return err
			case entry.IsDir() || !strings.HasSuffix(path, folder.Suffix):
				return nil
			}
			if files++; files > maxRuleFiles {
				return fmt.Errorf("%s has more than %d files; move servers by hand (docs/GATEWAY.md)", dir, maxRuleFiles)
			}
			more, err := fileRules(client, path)
			for i := range more {
				more[i].text += " in " + path
			}
			rules = append(rules, more...)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return rules, nil
}

// fileRules returns the rules in one file, by the kind of file.
func fileRules(client, path string) ([]Rule, error) {
	text, err := setup.File{Path: path}.Read()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	switch filepath.Ext(path) {
	case ".md":
		return frontMatter(client, string(text)), nil
	case ".json":
		file, err := setup.ParseJSON(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		return hookRules(file.Get("hooks")), nil
	case ".toml":
		var file map[string]any
		if err := toml.Unmarshal(text, &file); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		return append(policies(file), tableRules(file)...), nil
	}
	return words(client, string(text)), nil
}

// frontMatter returns the rules in the lines between "---" at the top of a Markdown file: of an agent, a command or a
// skill. Every word in them that names a server's tools counts, since what is allowed there is all that is allowed.
func frontMatter(client, text string) []Rule {
	text = strings.ReplaceAll(strings.TrimPrefix(text, "\ufeff"), "\r\n", "\n")
	rest, ok := strings.CutPrefix(text, "---\n")
	head, _, ended := strings.Cut(rest, "\n---")
	if !ok || !ended {
		return nil
	}
	var lines []string
	for line := range strings.Lines(head) {
		if key, _, _ := strings.Cut(line, ":"); key != "description" && key != "name" {
			lines = append(lines, line)
		}
	}
	head = strings.Join(lines, "")
	rules := words(client, head)
	if strings.Contains(head, "mcpServers") || strings.Contains(head, "mcp_servers") { // a list of servers' names
		rules = append(rules, Rule{text: "mcpServers", concerns: func(server string) bool { return strings.Contains(head, server) }})
	}
	return rules
}

// words returns the rules for the words of a text that may be names of servers' tools.
func words(client, text string) []Rule {
	marks := append([]string{"mcp_"}, agent.Named(client).Restrictions.Marks...)
	var found []string
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \t\r\n,;\"'`[]{}<>|", r) }) {
		word = strings.Trim(word, ":.")
		name, _, _ := strings.Cut(word, "(")
		tool := slices.ContainsFunc(marks, func(mark string) bool { return strings.Contains(word, mark) })
		if tool && name != "*" {
			found = append(found, name)
		}
	}
	return patterns(found...)
}

// policies returns the rules of a policy file of Gemini CLI that do not simply allow.
func policies(file map[string]any) (rules []Rule) {
	for _, key := range sortedKeys(file) {
		entries, _ := file[key].([]any)
		for _, e := range entries {
			entry, ok := e.(map[string]any)
			if !ok || entry["decision"] == "allow" {
				continue
			}
			tools := slices.Concat(Texts(entry["toolName"]), Texts([]any{entry["toolName"]}))
			for _, server := range slices.Concat(Texts(entry["mcpName"]), Texts([]any{entry["mcpName"]})) {
				if server == "*" && (len(tools) == 0 || slices.Equal(tools, []string{"*"})) {
					continue // for every server: holds for the gateway, too
				}
				rules = append(rules, Rule{text: server, concerns: func(name string) bool {
					return slices.ContainsFunc(names(name), func(n string) bool { return begins(server+"\x00", n+"\x00") })
				}})
			}
			if entry["mcpName"] == nil {
				rules = append(rules, toolRules(tools...)...)
			}
		}
	}
	return rules
}

// tableRules returns the rules of a TOML file of Codex: tables of servers, and hooks.
func tableRules(file map[string]any) (rules []Rule) {
	servers, _ := file["mcp_servers"].(map[string]any)
	for _, name := range sortedKeys(servers) {
		rules = append(rules, Rule{text: "mcp_servers." + name, concerns: func(server string) bool { return server == name }})
	}
	return append(rules, hookRules(file["hooks"])...)
}

// hookRules returns the matchers and conditions of hooks, wherever they are in the configuration of the hooks.
func hookRules(hooks any) (rules []Rule) {
	switch hooks := hooks.(type) {
	case map[string]any:
		for _, key := range sortedKeys(hooks) {
			text, ok := hooks[key].(string)
			switch {
			case ok && key == "matcher":
				rules = append(rules, matcher(text))
			case ok && key == "if":
				rules = append(rules, words("", text)...)
			case !ok:
				rules = append(rules, hookRules(hooks[key])...)
			}
		}
	case []any:
		for _, entry := range hooks {
			rules = append(rules, hookRules(entry)...)
		}
	}
	return rules
}

// TOML returns the rules of Codex besides the fields of a server's entry: in profiles, hooks, and the files below
// its folder.
func (s Source) TOML(text []byte) ([]Rule, error) {
	var file map[string]any
	if err := toml.Unmarshal(text, &file); err != nil {
		return nil, err
	}
	for _, path := range s.Paths { // an administrator's
		if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
			s.Unread = append(slices.Clip(s.Unread), path)
		}
	}
	rules := append(s.unread(), hookRules(file["hooks"])...)
	profiles, _ := file["profiles"].(map[string]any)
	for _, name := range sortedKeys(profiles) {
		profile, _ := profiles[name].(map[string]any)
		for _, r := range tableRules(profile) {
			rules = append(rules, Rule{text: "profiles." + name + "." + r.text, concerns: r.concerns})
		}
	}
	more, err := folderRules(s.Client, s.Dir)
	if err != nil || s.Dir == "" {
		return append(rules, more...), err
	}
	entries, err := os.ReadDir(s.Dir)
	for _, entry := range entries { // profiles in files of their own
		if path := filepath.Join(s.Dir, entry.Name()); strings.HasSuffix(path, ".config.toml") {
			profile, err := fileRules(s.Client, path)
			if err != nil {
				return nil, err
			}
			for _, r := range profile {
				more = append(more, Rule{text: r.text + " in " + path, concerns: r.concerns})
			}
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return append(rules, more...), err
}
