package provider

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/runnerfsm/inject"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

// GrantsShell reports whether the user's own options let Claude run any command without
// sandbox and approval. A sandbox, or a rule against Bash, in the settings that Claude
// reads revokes that.
func (c Claude) GrantsShell(options []string, s inject.Settings) bool {
	modes, _ := cutOption(options, "--permission-mode")
	skips, _ := cutFlag(options, "--dangerously-skip-permissions")
	granted := skips || last(modes) == "bypassPermissions" ||
		slices.ContainsFunc(claudeRules(options, "--allowedTools", "--allowed-tools"), isWholeBash)
	return granted && !c.withholdsShell(options, s)
}

// withholdsShell reports whether any option or setting of Claude denies Bash or puts it
// into a sandbox. Unreadable settings count as if they did.
func (c Claude) withholdsShell(options []string, s inject.Settings) bool {
	if modes, _ := cutOption(options, "--permission-mode"); last(modes) == "plan" {
		return true
	}
	if slices.ContainsFunc(claudeRules(options, "--disallowedTools", "--disallowed-tools"), isBash) {
		return true
	}
	if offered := claudeRules(options, "--tools"); len(offered) > 0 && !slices.ContainsFunc(offered, isBashOrDefault) {
		return true
	}
	return slices.ContainsFunc(claudeSettings(options, s), withholdsBash)
}

// claudeRules returns the values of an option that takes several, as one list. They are
// separated by commas or spaces outside parentheses, or are separate arguments.
func claudeRules(options []string, names ...string) (rules []string) {
	for i := 0; i < len(options); i++ {
		value, attached, found := match(options[i], names)
		if attached {
			rules = append(rules, splitRules(value)...)
		}
		if !found || attached {
			continue
		}
		for ; i+1 < len(options) && !strings.HasPrefix(options[i+1], "-"); i++ {
			rules = append(rules, splitRules(options[i+1])...)
		}
	}
	return rules
}

func splitRules(list string) []string {
	depth := 0
	return strings.FieldsFunc(list, func(c rune) bool {
		switch c {
		case '(':
			depth++
		case ')':
			depth--
		}
		return depth == 0 && (c == ',' || c == ' ')
	})
}

// isWholeBash reports whether a rule applies to every command.
func isWholeBash(rule string) bool { return rule == "Bash" || rule == "Bash(*)" }

// isBash reports whether a rule applies to any command.
func isBash(rule string) bool { return rule == "Bash" || strings.HasPrefix(rule, "Bash(") }

func isBashOrDefault(rule string) bool { return isBash(rule) || rule == "default" }

// claudeSettings returns the contents of the settings that Claude may read, including those
// in its options. It also reads those that --setting-sources excludes, because a user who
// set up a sandbox anywhere wants it.
func claudeSettings(options []string, s inject.Settings) (texts [][]byte) {
	where := agent.Claude.Files
	var files []string
	for _, name := range where.InProject {
		files = append(files, filepath.Join(s.Dir, name))
	}
	files = append(files, s.Managed(&agent.Claude)...)
	if home := s.Get(where.Folder.Variable); home != "" {
		files = append(files, filepath.Join(home, where.Hooks.Name))
	} else if home := s.Home(); home != "" {
		files = append(files, filepath.Join(home, where.Folder.Default, where.Hooks.Name))
	}
	given, _ := cutOption(options, "--settings")
	for _, value := range given {
		if strings.HasPrefix(strings.TrimSpace(value), "{") {
			texts = append(texts, []byte(value))
			continue
		}
		if !filepath.IsAbs(value) {
			value = filepath.Join(s.Dir, value)
		}
		files = append(files, value)
	}
	for _, file := range files {
		if text, err := os.ReadFile(file); err == nil {
			texts = append(texts, text)
		}
	}
	return texts
}

// withholdsBash reports whether settings of Claude put Bash into a sandbox, deny it, or
// always ask for approval.
func withholdsBash(text []byte) bool {
	var set struct {
		Sandbox     struct{ Enabled bool }
		Permissions struct{ Deny, Ask []string }
	}
	if !decode(text, &set) {
		return true
	}
	return set.Sandbox.Enabled || slices.ContainsFunc(slices.Concat(set.Permissions.Deny, set.Permissions.Ask), isBash)
}

// GrantsShell reports whether the user's own options let Codex run commands without its
// sandbox. "codex exec" never asks for approval.
func (Codex) GrantsShell(options []string, _ inject.Settings) bool {
	modes, _ := cutOption(options, "--sandbox", "-s")
	bypass, _ := cutFlag(options, "--dangerously-bypass-approvals-and-sandbox")
	yolo, _ := cutFlag(options, "--yolo")
	return (bypass || yolo || last(modes) == "danger-full-access") && !codexWithoutShell(options)
}

// codexWithoutShell reports whether the options disable Codex's own shell.
func codexWithoutShell(options []string) bool {
	disabled, _ := cutOption(options, "--disable")
	if slices.Contains(disabled, "shell_tool") {
		return true
	}
	settings, _ := cutOption(options, codexNames...)
	return slices.ContainsFunc(settings, func(setting string) bool {
		value, found := codexSetting(setting, "features", "shell_tool")
		return found && value == false
	})
}
