package restriction

import (
	"maps"
	"slices"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

// Rule is something in a client's configuration that forbids a tool, makes the client ask, or selects tools by name.
type Rule struct {
	text     string // as it is written
	concerns func(server string) bool
	unread   bool // its text is the name of a file, or another source, that is not read
	allows   bool // it only allows: behind the gateway its client asks, which keeps no server
}

// patterns returns the rules for names of tools or servers, with or without wildcards.
func patterns(texts ...string) (rules []Rule) {
	for _, text := range texts {
		rules = append(rules, Rule{text: text, concerns: func(server string) bool { return ruleOf(text, server) }})
	}
	return rules
}

// allowances returns the rules that only allow.
func allowances(texts ...string) []Rule {
	rules := patterns(texts...)
	for i := range rules {
		rules[i].allows = true
	}
	return rules
}

// names returns the ways in which clients write a server's name in the names of its tools: as it is, and with "_" for
// every character that they do not allow. Gemini CLI allows a dot.
func names(server string) []string {
	plain := func(allowed string) string {
		return strings.Map(func(r rune) rune {
			if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune(allowed, r) {
				return r
			}
			return '_'
		}, server)
	}
	return slices.Compact([]string{server, plain("_-."), plain("_-")})
}

// prefixes returns the beginnings of the names of a server's tools: of Claude Code, Codex, Gemini CLI, opencode, Cursor.
func prefixes(server string) (all []string) {
	for _, name := range names(server) {
		all = append(all, "mcp__"+name+"__", "mcp_"+name+"_", name+"_", "Mcp("+name+":")
	}
	return all
}

// ruleOf reports whether a rule concerns a server: by its name alone, or by the names of its tools. A rule for everything
// holds for the gateway, too.
func ruleOf(rule, server string) bool {
	if rule == "*" {
		return false
	}
	for _, name := range names(server) {
		if rule == name || rule == "mcp__"+name || rule == "mcp_"+name {
			return true
		}
	}
	return slices.ContainsFunc(prefixes(server), func(prefix string) bool { return begins(rule, prefix) })
}

// begins reports whether a pattern with the wildcards * and ? matches a text that begins with prefix.
func begins(pattern, prefix string) bool {
	for i := range len(prefix) {
		switch {
		case i == len(pattern):
			return false
		case pattern[i] == '*': // the rest of the prefix is in its match
			return true
		case pattern[i] != '?' && pattern[i] != prefix[i]:
			return false
		}
	}
	return true
}

// everything are the matchers of hooks that match the gateway's tools as they match a server's.
var everything = []string{"", "*", ".*", "mcp__", "mcp__*", "mcp__.*", "mcp__.+"}

// matcher returns the rule for the matcher of a hook, a regular expression for names of tools.
func matcher(text string) Rule {
	return Rule{text: text, concerns: func(server string) bool {
		return slices.ContainsFunc(strings.Split(text, "|"), func(part string) bool { return matches(strings.Trim(part, "^$() "), server) })
	}}
}

// matches reports whether an alternative of a regular expression may match a server's tools. One that begins with
// something else than a name may match any tool.
func matches(part, server string) bool {
	if slices.Contains(everything, part) {
		return false
	}
	at := strings.IndexAny(part, `.[]*+?(){}\^$`)
	if at < 0 {
		return ruleOf(part, server)
	}
	head := part[:at]
	if strings.HasPrefix(head, "mcp_") {
		return slices.ContainsFunc(prefixes(server), func(p string) bool { return strings.HasPrefix(p, head) || strings.HasPrefix(head, p) })
	}
	builtin := head != "" && (head[0] >= 'A' && head[0] <= 'Z' || ownTool(func(tool string) bool { return strings.HasPrefix(tool, head) }))
	return !builtin
}

// ownTool reports whether any client has a tool of its own for whose name a condition holds.
func ownTool(is func(string) bool) bool {
	return slices.ContainsFunc(agent.Clients, func(c *agent.Client) bool { return slices.ContainsFunc(c.Restrictions.OwnTools, is) })
}

// toolRules returns the rules for names of tools without their server, as Gemini CLI writes them. Such a name may be that of
// any server's tool.
func toolRules(texts ...string) (rules []Rule) {
	for _, text := range texts {
		name, _, _ := strings.Cut(text, "(")
		rules = append(rules, Rule{text: text, concerns: func(server string) bool {
			switch {
			case name == "*" || name == "mcp_*" || ownTool(func(tool string) bool { return tool == name }):
				return false
			case ruleOf(name, server):
				return true
			}
			return !strings.Contains(name, "__") && !strings.HasPrefix(name, "mcp_")
		}})
	}
	return rules
}

func sortedKeys(object map[string]any) []string { return slices.Sorted(maps.Keys(object)) }

// Texts returns the texts of a list that was decoded from JSON.
func Texts(list any) (out []string) {
	entries, _ := list.([]any)
	for _, e := range entries {
		if text, ok := e.(string); ok {
			out = append(out, text)
		}
	}
	return out
}
