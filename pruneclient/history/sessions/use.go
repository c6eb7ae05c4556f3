package sessions

import (
	"regexp"
	"strings"
	"sync"
)

// PartUse counts in how many sessions the parts of a prefix were used.
type PartUse struct {
	seen     int
	used     map[part]int
	origins  map[origin]int   // by those of which anything was used
	listed   map[part]int     // sessions whose transcript says that the part stood in their prefix
	listings map[PartKind]int // sessions whose transcript says so of a kind
}

// part identifies a part in a count.
type part struct {
	kind PartKind
	name string
}

// origin is an MCP server or a plugin.
type origin struct {
	plugin bool
	name   string
}

func originOf(p Part) origin { return origin{p.Kind == SkillPart || p.Kind == AgentPart, p.Server} }

// NewPartUse returns a count without sessions.
func NewPartUse() *PartUse {
	return &PartUse{used: map[part]int{}, origins: map[origin]int{}, listed: map[part]int{}, listings: map[PartKind]int{}}
}

// Sessions returns the number of sessions counted.
func (u *PartUse) Sessions() int { return u.seen }

// Of returns in how many sessions a part was used, and in how many it could have been. Where transcripts list the parts of a
// kind, as newer ones of Claude Code list skills, only sessions that list the part count: one that was installed yesterday has
// not been unused for long.
func (u *PartUse) Of(p Part) (used, seen int) {
	key := part{p.Kind, as(p.Name)}
	used, seen = u.used[key], u.seen
	if p.Kind == OtherPart {
		used = u.origins[originOf(p)]
	}
	if u.listings[p.Kind] > 0 && (p.Kind != ToolPart || p.Server != "") {
		seen = u.listed[key]
	}
	return used, max(seen, used)
}

// Facts are the parts of the prefix that a session called and those that its transcript lists.
type Facts struct{ Called, Listed []Part }

// FactsOf returns the facts of a session.
func FactsOf(s Session) Facts { return Facts{CalledParts(s), listedParts(s)} }

// Add counts one session.
func (u *PartUse) Add(s Session) { u.AddFacts(FactsOf(s)) }

// AddFacts counts one session.
func (u *PartUse) AddFacts(f Facts) {
	u.seen++
	used, origins := map[part]bool{}, map[origin]bool{}
	for _, p := range f.Called {
		used[part{p.Kind, as(p.Name)}] = true
		if p.Server != "" {
			origins[originOf(p)] = true
		}
	}
	kinds, listed := map[PartKind]bool{}, map[part]bool{}
	for _, p := range f.Listed {
		kinds[p.Kind], listed[part{p.Kind, as(p.Name)}] = true, true
	}
	count(u.used, used)
	count(u.origins, origins)
	count(u.listed, listed)
	count(u.listings, kinds)
}

func count[K comparable](counts map[K]int, of map[K]bool) {
	for k := range of {
		counts[k]++
	}
}

// renamed maps names to the one under which uses are counted: the newer name of a tool, and one of two tools that are of no
// use without the other.
var renamed = map[string]string{"Task": "Agent", "ExitPlanMode": "EnterPlanMode", "exit_plan_mode": "EnterPlanMode", "SlashCommand": "Skill"}

// A tool of the client counts with and without its namespace, which not every version of Codex records.
func as(name string) string {
	if newer, ok := renamed[name]; ok {
		return newer
	}
	if at := strings.LastIndex(name, "__"); at > 0 && serverOf(name) == "" {
		return name[at+len("__"):]
	}
	return name
}

// CalledParts returns what a session called: tools, and skills and agents by the arguments of the calls, or by the user's commands.
// Parts may occur several times, and have no tokens.
func CalledParts(s Session) []Part {
	var parts []Part
	for _, step := range s.Steps {
		parts = append(parts, CalledBy(step)...)
	}
	return parts
}

// CalledBy returns what one step called.
func CalledBy(step Step) []Part {
	if step.Kind == User {
		var parts []Part
		for _, m := range slash().FindAllStringSubmatch(step.Text, -1) {
			parts = append(parts, ofPlugin(SkillPart, m[1]))
		}
		return parts
	}
	if step.Kind != Use {
		return nil
	}
	parts := []Part{{Kind: ToolPart, Name: step.Tool, Server: serverOf(step.Tool)}}
	kind, names := AgentPart, []string{"subagent_type"}
	switch as(step.Tool) {
	case "Agent":
	case "Skill":
		kind, names = SkillPart, []string{"skill", "command"}
	default:
		return parts
	}
	for _, name := range names {
		if value, _ := step.Args[name].(string); value != "" {
			parts = append(parts, ofPlugin(kind, strings.TrimPrefix(value, "/")))
		}
	}
	return parts
}

// slash matches a command of the user, as Claude Code records it.
var slash = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`<command-name>/([\w:.-]+)</command-name>`) })

// serverOf returns the MCP server in a tool's name of the form mcp__SERVER__TOOL, as Claude Code and Codex write it, or "".
func serverOf(tool string) string {
	rest, ok := strings.CutPrefix(tool, "mcp__")
	server, _, named := strings.Cut(rest, "__")
	if !ok || !named {
		return ""
	}
	return server
}

// ofPlugin returns a skill or agent, whose name begins with its plugin's if it has one: PLUGIN:NAME.
func ofPlugin(kind PartKind, name string) Part {
	plugin, _, ok := strings.Cut(name, ":")
	if !ok {
		plugin = ""
	}
	return Part{Kind: kind, Name: name, Server: plugin}
}

// SamePart reports whether a call of one part uses the other: both are one part, or they are a pair, such as entering plan mode and
// leaving it.
func SamePart(a, b Part) bool { return a.Kind == b.Kind && as(a.Name) == as(b.Name) }
