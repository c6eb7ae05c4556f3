package hook

import (
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
	"github.com/mcp-pruner/mcp-pruner/runnerfsm/setup"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

// BackRule is the entry of a client's settings that lets its model run the command without asking, for a program.
type BackRule struct {
	agent.Rule
	File setup.File // of the user, never of a project
	Text string     // the rule itself
}

// Ours reports whether an element of the list, or the name of a member, is such a rule with the path of any program of this
// name.
func (r BackRule) Ours(text string) bool {
	m := r.Pattern.FindStringSubmatch(text)
	return text == r.Text || m != nil && ownPath(m[1])
}

// Wholly reports whether a file has such a rule and nothing else.
func (r BackRule) Wholly(text string) bool {
	m := r.Pattern.FindStringSubmatch(text)
	if m == nil || !ownPath(m[1]) {
		return text == r.Text
	}
	lines := strings.Split(r.Line(m[1]), "\n")
	for line := range strings.SplitSeq(text, "\n") {
		if strings.TrimSpace(line) != "" && !slices.Contains(lines, line) {
			return false
		}
	}
	return true
}

// ownPath reports whether a program is one that init names in a rule: a path of this program that needs no quotes.
func ownPath(program string) bool {
	name := strings.TrimSuffix(filepath.Base(program), ".exe")
	return filepath.IsAbs(program) && name == "mcp-pruner" && !strings.ContainsAny(program, " \t'\"`$;|&<>()")
}

// BackRuleFor returns the rule of a client for a program at a path. ok is false if the path cannot be written in a rule; what
// the rule says beside its text holds all the same.
func BackRuleFor(client, path string, home setup.Home) (rule BackRule, ok bool, err error) {
	c := agent.Named(client)
	files, err := home.Files(client)
	switch {
	case err != nil:
		return BackRule{}, false, err
	case c.Rule == nil:
		return BackRule{}, false, fmt.Errorf("init writes none for %s: if it asks before its model runs \"mcp-pruner recover\", allow that there", client)
	}
	start, ok := c.ToolShell(runtime.GOOS).Start(runtime.GOOS, path)
	ok = ok && start == filepath.ToSlash(path) // in quotes it is another word to some of the clients
	return BackRule{*c.Rule, ruleFile(c, files), c.Rule.Line(start)}, ok, nil
}

func ruleFile(c *agent.Client, files setup.Files) setup.File {
	if c.Rule.In == agent.InOwnFile {
		return setup.File{Path: filepath.Join(files.Dir, filepath.FromSlash(c.Rule.Own))}
	}
	return files.At(c.Rule.In)
}

// allowed returns how a rule in the user's settings of a client starts this program, or "" if no rule names a path of it.
func allowed(client string, lookup func(string) (string, bool)) string {
	files, err := setup.Home{Lookup: lookup}.Files(client)
	if err != nil {
		return ""
	}
	for _, start := range starts(agent.Named(client), files) {
		if filepath.IsAbs(start) && command.IsSelf(start) {
			return start
		}
	}
	return ""
}

// starts returns how the rules of a client start a program of this name.
func starts(c *agent.Client, files setup.Files) (found []string) {
	if c.Rule == nil {
		return nil
	}
	file := ruleFile(c, files)
	text := readable(file.Path)
	if !strings.Contains(string(text), "recover") { // a hook has no time to parse what it does not need
		return nil
	}
	if c.Rule.In == agent.InOwnFile {
		for _, m := range c.Rule.Pattern.FindAllSubmatch(text, -1) {
			found = append(found, string(m[1]))
		}
		return found
	}
	value, _ := file.Syntax.Decode(text) // a file that the client cannot read has no rules
	object, _ := value.(map[string]any)
	for _, rule := range allowing(agent.ValueAt(object, c.Rule.Path...)) {
		if m := c.Rule.Pattern.FindStringSubmatch(rule); m != nil {
			found = append(found, m[1])
		}
	}
	return found
}

// allowing returns the rules of a list, or the members of an object that allow something.
func allowing(value any) (rules []string) {
	switch value := value.(type) {
	case []any:
		for _, v := range value {
			if text, ok := v.(string); ok {
				rules = append(rules, text)
			}
		}
	case map[string]any:
		for pattern, action := range value {
			if action == "allow" {
				rules = append(rules, pattern)
			}
		}
	}
	return rules
}
