package wayback

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
	"github.com/mcp-pruner/mcp-pruner/runnerfsm/setup"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

// Rule is what lets a client's model run the command without asking, in the client's own form. It allows recover with any
// arguments and nothing else.
type Rule struct {
	File setup.File // of the user, never of a project
	Path []string   // where in File; nil: the rule is the whole file
	Text string     // the rule itself
	List bool       // Path names a list that has Text as an element; else Text is a member whose value is "allow"
}

// Ours reports whether an element of the list, or the name of a member, is such a rule with the path of any program of this
// name.
func (r Rule) Ours(text string) bool {
	pattern := opencodeRule
	if r.List {
		pattern = claudeRule
	}
	m := pattern.FindStringSubmatch(text)
	return text == r.Text || m != nil && filepath.IsAbs(m[1])
}

// RuleFor returns the rule of a client for a program at a path. ok is false if the path cannot be written in a rule; what
// the rule says beside its text holds all the same.
func RuleFor(client, path string, home setup.Home) (rule Rule, ok bool, err error) {
	files, err := home.Files(client)
	if err != nil {
		return Rule{}, false, err
	}
	start, ok := agent.Named(client).ToolShell(runtime.GOOS).Start(runtime.GOOS, path)
	ok = ok && start == filepath.ToSlash(path) // in quotes it is another word to some of the clients
	switch client {
	case "claude":
		return Rule{File: files.Hooks, Path: []string{"permissions", "allow"}, Text: "Bash(" + start + verb + ":*)", List: true}, ok, nil
	case "opencode":
		return Rule{File: files.Servers, Path: []string{"permission", "bash"}, Text: start + verb + " *"}, ok, nil
	case "codex":
		return Rule{File: ownFile(files.Dir, "rules", "mcp-pruner.rules"), Text: codexRule(start)}, ok, nil
	case "gemini":
		return Rule{File: ownFile(files.Dir, "policies", "mcp-pruner.toml"), Text: geminiRule(start)}, ok, nil
	}
	return Rule{}, false, fmt.Errorf("%s has no rule that is known", client)
}

// ownFile is a file that has nothing but the rule.
func ownFile(parts ...string) setup.File {
	return setup.File{Path: filepath.Join(parts...)}
}

func codexRule(start string) string {
	return "# Written by mcp-pruner init: Codex may run this command without asking.\n" +
		"prefix_rule(pattern = [" + strconv.Quote(start) + `, "recover"], decision = "allow")` + "\n"
}

func geminiRule(start string) string {
	return "# Written by mcp-pruner init: Gemini CLI may run this command without asking.\n" +
		"[[rule]]\ntoolName = \"run_shell_command\"\ncommandPrefix = " + strconv.Quote(start+verb) + "\ndecision = \"allow\"\npriority = 100\n"
}

// Patterns of rules that allow the command, in the files of clients. The first group is how the rule starts the program.
var (
	claudeRule   = regexp.MustCompile(`^Bash\((.*mcp-pruner(?:\.exe)?) recover(?::\*| \*)\)$`)
	opencodeRule = regexp.MustCompile(`^(.*mcp-pruner(?:\.exe)?) recover \*$`)
	codexPattern = regexp.MustCompile(`(?m)^prefix_rule\(pattern = \["([^"\\]*mcp-pruner(?:\.exe)?)", "recover"\], decision = "allow"\)`)
	geminiPrefix = regexp.MustCompile(`(?m)^commandPrefix = "([^"\\]*mcp-pruner(?:\.exe)?) recover"`)
)

// allowed returns how a rule in the user's settings of a client starts this program, or "" if no rule names a path of it.
func allowed(client string, lookup func(string) (string, bool)) string {
	files, err := setup.Home{Lookup: lookup}.Files(client)
	if err != nil {
		return ""
	}
	for _, start := range starts(client, files) {
		if filepath.IsAbs(start) && command.IsSelf(start) {
			return start
		}
	}
	return ""
}

// starts returns how the rules of a client start a program of this name.
func starts(client string, files setup.Files) (found []string) {
	var rules []string
	pattern := claudeRule
	switch client {
	case "claude":
		var settings struct{ Permissions struct{ Allow []string } }
		if json.Unmarshal(readable(files.Hooks.Path), &settings) == nil {
			rules = settings.Permissions.Allow
		}
	case "opencode":
		pattern = opencodeRule
		rules = opencodeRules(files.Servers.Path)
	case "codex":
		return submatches(codexPattern, readable(filepath.Join(files.Dir, "rules", "mcp-pruner.rules")))
	case "gemini":
		return submatches(geminiPrefix, readable(filepath.Join(files.Dir, "policies", "mcp-pruner.toml")))
	}
	for _, rule := range rules {
		if m := pattern.FindStringSubmatch(rule); m != nil {
			found = append(found, m[1])
		}
	}
	return found
}

func submatches(pattern *regexp.Regexp, text []byte) (found []string) {
	for _, m := range pattern.FindAllSubmatch(text, -1) {
		found = append(found, string(m[1]))
	}
	return found
}

// opencodeRules returns the patterns of commands that opencode's settings allow.
func opencodeRules(path string) (rules []string) {
	text := readable(path)
	if !strings.Contains(string(text), verb+" *") { // a hook has no time to parse what it does not need
		return nil
	}
	j, err := setup.ParseJSON(text)
	if err != nil {
		return nil
	}
	bash, _ := j.Get("permission", "bash").(map[string]any)
	for pattern, action := range bash {
		if action == "allow" {
			rules = append(rules, pattern)
		}
	}
	return rules
}
