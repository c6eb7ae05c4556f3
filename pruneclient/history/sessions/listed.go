package sessions

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/mcp-pruner/mcp-pruner/tools/agent"
	"github.com/mcp-pruner/mcp-pruner/tools/tokens"
)

// listings are the kinds of attachments that list parts of the prefix, with the kind of their entries.
var listings = map[string]PartKind{"skill_listing": SkillPart, "agent_listing_delta": AgentPart, "deferred_tools_delta": ToolPart, "mcp_instructions_delta": OtherPart}

// listedParts returns the parts that the transcript of a session lists, with the tokens that stand in the prompt: skills, agents, the
// names of deferred tools, instructions of servers. Each is returned once, as it was listed first.
func listedParts(s Session) []Part {
	var parts []Part
	seen := map[part]bool{}
	for _, step := range s.Steps {
		if step.Kind != Attach {
			continue
		}
		for _, p := range ListedIn(step) {
			if key := (part{p.Kind, p.Name}); !seen[key] {
				seen[key] = true
				parts = append(parts, p)
			}
		}
	}
	return parts
}

// DefinedParts returns the client's own tools whose definitions stood in the session's prefix, as far as their sizes are known from
// measurements of the client's version. Tools that the transcript lists as deferred have no definition there.
func DefinedParts(s Session) []Part {
	sizes := clientOf(s).Defined(s.Version)
	for _, p := range listedParts(s) {
		if p.Kind == ToolPart {
			sizes = maps.Clone(sizes)
			delete(sizes, p.Name)
		}
	}
	var parts []Part
	for _, name := range slices.Sorted(maps.Keys(sizes)) {
		parts = append(parts, Part{Kind: ToolPart, Name: name, Tokens: sizes[name]})
	}
	return parts
}

// clientOf returns the client of a session: by the transcript, or in a collection by the names of tools, which only Claude Code
// writes with capital letters.
func clientOf(s Session) *agent.Client {
	if c := agent.Named(s.Source); c.Name != "" {
		return c
	}
	for _, step := range s.Steps {
		if step.Kind == Use && (step.Tool == "Read" || step.Tool == "Bash") {
			return &agent.Claude
		}
	}
	return agent.Named("")
}

// ListedIn returns the parts that one attachment lists.
func ListedIn(step Step) []Part {
	kind, ok := listings[step.Type]
	if !ok {
		return nil
	}
	starts := entry
	switch kind {
	case ToolPart:
		starts = deferred
	case OtherPart:
		starts = heading
	}
	var parts []Part
	at := starts().FindAllStringSubmatchIndex(step.Text, -1)
	for i, m := range at {
		end := len(step.Text)
		if i+1 < len(at) {
			end = at[i+1][0]
		}
		p := ofPlugin(kind, strings.TrimSpace(step.Text[m[2]:m[3]]))
		switch kind {
		case ToolPart:
			p.Server = serverOf(p.Name)
		case OtherPart:
			p.Server = p.Name
		}
		p.Tokens = tokens.Claude(step.Text[m[0]:end])
		parts = append(parts, p)
	}
	return parts
}

// Forms of the entries of a listing.
var (
	entry = sync.OnceValue(func() *regexp.Regexp { // "- NAME: description"
		return regexp.MustCompile(`(?m)^- ([\w./-]+(?::[\w./-]+)*)(?::\s|\s*$)`)
	})
	deferred = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^(?:- )?([A-Za-z]\w+)(?::.*)?$`) }) // "NAME"
	heading  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^## (.+)$`) })                      // "## SERVER"
)
