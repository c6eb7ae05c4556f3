package sessions

import (
	"fmt"
	"slices"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history"
)

// PartKind is the kind of a part.
type PartKind string

const (
	SystemPart PartKind = "system"
	ToolPart   PartKind = "tool"
	MemoryPart PartKind = "memory"
	SkillPart  PartKind = "skill"
	AgentPart  PartKind = "agent"
	OtherPart  PartKind = "other" // with a server: its instructions
)

// Part is one part of a prefix.
type Part struct {
	Kind   PartKind `json:"kind"`
	Name   string   `json:"name"`             // as the model calls it
	Server string   `json:"server,omitempty"` // MCP server of a tool, or plugin of a skill or an agent; "" for the client's own
	Tokens int      `json:"tokens"`

	// Decided names whoever decided that the part stands there, such as an administrator or the project's shared settings. Such
	// a part stays. "" for a part that the user may switch off.
	Decided string `json:"decided,omitempty"`
}

// PartVerdict says whether a part could go. Its JSON is a contract (SPEC part J).
type PartVerdict struct {
	Part
	Used  int    `json:"sessions_used"`
	Seen  int    `json:"sessions_seen"`
	CanGo bool   `json:"can_go"`
	Why   string `json:"why"`
}

// PrefixRule has the bounds of what could go.
type PrefixRule struct {
	Tokens int // MinTokens
	Seen   int // MinSeen
	Late   int // LateSeen

	// Rare is the share of the sessions that may have used what goes, from 0 to 1. The standard rule has 0.
	Rare float64
}

// StandardRule returns the rule that the verb context and the policy context follow.
func StandardRule() PrefixRule {
	return PrefixRule{Tokens: MinPartTokens, Seen: MinSeen, Late: LateSeen}
}

// The bounds of the standard rule.
const (
	MinPartTokens = 150 // of what can go, a whole server's or plugin's parts together
	MinSeen       = 10  // sessions in which it could have been used

	// LateSeen is MinSeen for what a project may begin to use late: plan mode, questions to the user, skills, the web. See
	// docs/decisions/090-what-could-go-from-the-prefix.md.
	LateSeen = 30
)

// Judge returns a verdict on each part, in the order of parts, by the standard rule.
func Judge(parts []Part, use *PartUse) []PartVerdict { return StandardRule().Judge(parts, use) }

// Judge returns a verdict on each part, in the order of parts.
func (r PrefixRule) Judge(parts []Part, use *PartUse) []PartVerdict {
	together := map[origin]int{}
	for _, p := range parts {
		if p.Server != "" {
			together[originOf(p)] += p.Tokens
		}
	}
	verdicts := make([]PartVerdict, len(parts))
	for i, p := range parts {
		v := PartVerdict{Part: p}
		v.Used, v.Seen = use.Of(p)
		tokens := p.Tokens
		if p.Server != "" && use.origins[originOf(p)] == 0 {
			tokens = together[originOf(p)]
		}
		v.Why = v.stays(r, tokens)
		if v.CanGo = v.Why == ""; v.CanGo {
			v.Why = fmt.Sprintf("used in none of %d sessions", v.Seen)
		}
		verdicts[i] = v
	}
	return verdicts
}

// FixedReason returns why no rule lets a part go, or "".
func FixedReason(p Part) string {
	switch {
	case p.Decided != "":
		return "decided by " + p.Decided
	case p.Kind == MemoryPart:
		return "memory files are the user's"
	case p.Kind == SystemPart, p.Kind == OtherPart && p.Server == "":
		return "no switch of the client removes it"
	case p.Kind == ToolPart && IsWorkTool(p):
		return "agents work with it"
	}
	return ""
}

// stays returns why a part stays, or "". tokens is the size of what would go with it.
func (v PartVerdict) stays(r PrefixRule, tokens int) string {
	least := r.Seen
	if v.late() {
		least = r.Late
	}
	why := FixedReason(v.Part)
	switch {
	case why != "":
		return why
	case float64(v.Used) > r.Rare*float64(v.Seen):
		return fmt.Sprintf("used in %d of %d sessions", v.Used, v.Seen)
	case v.Seen < least:
		return fmt.Sprintf("seen in %d sessions, of %d that are needed", v.Seen, least)
	case tokens < r.Tokens:
		return fmt.Sprintf("less than %d tokens", r.Tokens)
	}
	return ""
}

// working are tools, beside those whose kind says so, that belong to reading, editing, searching and running.
var working = []string{"BashOutput", "KillShell", "KillBash", "TaskOutput", "TaskStop", "Monitor", "ToolSearch", "StructuredOutput",
	"write_stdin", "read_many_files", "view_image"}

// IsWorkTool reports whether agents read, edit, search or run commands with a tool. No rule takes these away.
func IsWorkTool(p Part) bool {
	return p.Server == "" && (history.KindOf(p.Name) != history.Other || slices.Contains(working, p.Name))
}

// lateTools are tools that a project may begin to use late.
var lateTools = []string{"EnterPlanMode", "ExitPlanMode", "AskUserQuestion", "Skill", "WebFetch", "WebSearch",
	"request_user_input", "web_fetch", "google_web_search", "webfetch", "websearch", "skill", "question",
	"skills", "ask_question", "fetch_web_content", "ask_user_question"}

func (v PartVerdict) late() bool {
	return v.Kind == SkillPart || v.Server == "" && slices.Contains(lateTools, v.Name)
}
