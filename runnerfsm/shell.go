package runnerfsm

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// shellTool is the server's tool that runs commands. A client's sandbox and its
// approval rules for commands do not hold for it: the server is not sandboxed.
const shellTool = "bash"

// The settings of the server that choose its tools.
const (
	envTools    = "MCP_PRUNER_TOOLS"
	envToolsets = "MCP_PRUNER_TOOLSETS"
)

// coreTools are the tools of the toolset "core"; MCP_PRUNER_TOOLS narrows them.
var coreTools = []string{"read", shellTool, "grep"}

// toolsets are the tools of the other toolsets that MCP_PRUNER_TOOLSETS can name.
var toolsets = map[string][]string{
	"text": {"prune_text", "recover_text"},
	"gc":   {"context_gc_analyze", "context_gc_prune", "context_gc_pin", "context_gc_unpin", "context_get", "context_search"},
}

// Tools lists the tools that a client is told to offer and may use without asking:
// what the server's settings choose, bash only with a shell.
func (s Settings) Tools(shell bool) []string {
	var tools []string
	for _, set := range orElse(words(s.Get(envToolsets)), "core") {
		chosen := toolsets[set]
		if set == "core" {
			chosen = orElse(words(s.Get(envTools)), coreTools...)
		}
		tools = append(tools, chosen...)
	}
	if !shell {
		tools = slices.DeleteFunc(tools, func(tool string) bool { return tool == shellTool })
	}
	return tools
}

// withoutShell is the settings with an environment in which the server offers no
// bash, whichever client asks it. Where MCP_PRUNER_TOOLS names nothing but bash it
// cannot say so (empty means all): the client's own rules hold alone then.
func (s Settings) withoutShell() Settings {
	core := orElse(words(s.Get(envTools)), coreTools...)
	core = slices.DeleteFunc(slices.Clone(core), func(tool string) bool { return tool == shellTool })
	if len(core) > 0 {
		s.Env = append(slices.Clone(s.Env), envTools+"="+strings.Join(core, ","))
	}
	return s
}

func orElse(list []string, otherwise ...string) []string {
	if len(list) == 0 {
		return otherwise
	}
	return list
}

// words splits a list separated by commas, as the server's settings have them.
func words(list string) []string {
	return strings.FieldsFunc(list, func(c rune) bool { return c == ',' || c == ' ' })
}

// GrantsShell says whether the user's own options let Claude run any command,
// unsandboxed and without asking. A sandbox or a rule against Bash in the settings
// that Claude reads takes that back.
func (c Claude) GrantsShell(options []string, s Settings) bool {
	modes, _ := cutOption(options, "--permission-mode")
	skips, _ := cutFlag(options, "--dangerously-skip-permissions")
	granted := skips || last(modes) == "bypassPermissions" ||
		slices.ContainsFunc(claudeRules(options, "--allowedTools", "--allowed-tools"), isWholeBash)
	return granted && !c.withholdsShell(options, s)
}

// withholdsShell says whether anything Claude is told takes Bash away or puts it
// into a sandbox. Settings that cannot be read count as if they did.
func (c Claude) withholdsShell(options []string, s Settings) bool {
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

// claudeRules are the values of an option that takes several of them, as one list:
// separated by commas or spaces outside parentheses, or as arguments of their own.
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

// isWholeBash says whether a rule is about every command.
func isWholeBash(rule string) bool { return rule == "Bash" || rule == "Bash(*)" }

// isBash says whether a rule is about any command.
func isBash(rule string) bool { return rule == "Bash" || strings.HasPrefix(rule, "Bash(") }

func isBashOrDefault(rule string) bool { return isBash(rule) || rule == "default" }

// managedClaudeSettings are an administrator's settings on Linux and on macOS.
var managedClaudeSettings = []string{
	"/etc/claude-code/managed-settings.json", "/Library/Application Support/ClaudeCode/managed-settings.json",
}

// claudeSettings are the texts of the settings that Claude may read, the ones in its
// options included. Those that --setting-sources leaves out are read as well: a
// sandbox that a user set up anywhere is meant.
func claudeSettings(options []string, s Settings) (texts [][]byte) {
	files := append([]string{
		filepath.Join(s.Dir, ".claude", "settings.json"), filepath.Join(s.Dir, ".claude", "settings.local.json"),
	}, managedClaudeSettings...)
	if home := s.Get("CLAUDE_CONFIG_DIR"); home != "" {
		files = append(files, filepath.Join(home, "settings.json"))
	} else if home := s.Get("HOME"); home != "" {
		files = append(files, filepath.Join(home, ".claude", "settings.json"))
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

// withholdsBash says whether settings of Claude put Bash into a sandbox, or deny it
// or ask for it in any case.
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

// GrantsShell says whether the user's own options let Codex run commands without its
// sandbox. "codex exec" never asks.
func (Codex) GrantsShell(options []string, _ Settings) bool {
	modes, _ := cutOption(options, "--sandbox", "-s")
	bypass, _ := cutFlag(options, "--dangerously-bypass-approvals-and-sandbox")
	yolo, _ := cutFlag(options, "--yolo")
	return (bypass || yolo || last(modes) == "danger-full-access") && !codexWithoutShell(options)
}

// codexWithoutShell says whether the options take Codex' own shell away.
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
