package sessions

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/tools/tokens"
)

func call(tool string, args ...string) Step {
	s := Step{Kind: Use, Tool: tool, Args: map[string]any{}}
	for i := 0; i < len(args); i += 2 {
		s.Args[args[i]] = args[i+1]
	}
	return s
}

// prefixCounted counts so many empty sessions, and then one with these steps.
func prefixCounted(empty int, steps ...Step) *PartUse {
	use := NewPartUse()
	for range empty {
		use.Add(Session{})
	}
	use.Add(Session{Steps: steps})
	return use
}

func TestWhatCouldGo(t *testing.T) {
	tool := func(name string, tokens int) Part {
		return Part{Kind: ToolPart, Name: name, Server: serverOf(name), Tokens: tokens}
	}
	for name, c := range map[string]struct {
		part Part
		use  *PartUse
		why  string
	}{
		"agents without a namespace":     {tool("multi_agent_v1__spawn_agent", 2540), prefixCounted(29, call("spawn_agent")), "used in 1 of 30 sessions"},
		"agents of another version":      {tool("collaboration__spawn_agent", 2540), prefixCounted(29, call("multi_agent_v1__spawn_agent")), "used in 1 of 30 sessions"},
		"an unused tool":                 {tool("Workflow", 1450), prefixCounted(9), "used in none of 10 sessions"},
		"one session too few":            {tool("Workflow", 1450), prefixCounted(8), "seen in 9 sessions, of 10 that are needed"},
		"a small one":                    {tool("Workflow", 149), prefixCounted(9), "less than 150 tokens"},
		"the smallest":                   {tool("Workflow", 150), prefixCounted(9), "used in none of 10 sessions"},
		"a used one":                     {tool("Workflow", 1450), prefixCounted(30, call("Workflow")), "used in 1 of 31 sessions"},
		"one that runs commands":         {tool("Bash", 990), prefixCounted(99), "agents work with it"},
		"one that finds deferred tools":  {tool("ToolSearch", 990), prefixCounted(99), "agents work with it"},
		"another server's read":          {tool("mcp__files__read_file", 990), prefixCounted(9), "used in none of 10 sessions"},
		"an administrator's":             {Part{Kind: ToolPart, Name: "Workflow", Tokens: 1450, Decided: "an administrator"}, prefixCounted(99), "decided by an administrator"},
		"a memory file":                  {Part{Kind: MemoryPart, Name: "CLAUDE.md", Tokens: 9000}, prefixCounted(99), "memory files are the user's"},
		"the system prompt":              {Part{Kind: SystemPart, Name: "system", Tokens: 9000}, prefixCounted(99), "no switch of the client removes it"},
		"plan mode, after ten sessions":  {tool("EnterPlanMode", 1080), prefixCounted(9), "seen in 10 sessions, of 30 that are needed"},
		"plan mode, after thirty":        {tool("EnterPlanMode", 1080), prefixCounted(29), "used in none of 30 sessions"},
		"plan mode, left once":           {tool("EnterPlanMode", 1080), prefixCounted(29, call("ExitPlanMode")), "used in 1 of 30 sessions"},
		"a tool by its older name":       {tool("Agent", 1340), prefixCounted(29, call("Task")), "used in 1 of 30 sessions"},
		"a skill, after ten":             {Part{Kind: SkillPart, Name: "review", Tokens: 200}, prefixCounted(9), "seen in 10 sessions, of 30 that are needed"},
		"a skill that the user called":   {Part{Kind: SkillPart, Name: "review", Tokens: 200}, prefixCounted(29, Step{Kind: User, Text: "<command-name>/review</command-name>"}), "used in 1 of 30 sessions"},
		"a skill that the model called":  {Part{Kind: SkillPart, Name: "review", Tokens: 200}, prefixCounted(29, call("Skill", "skill", "review")), "used in 1 of 30 sessions"},
		"an agent":                       {Part{Kind: AgentPart, Name: "Explore", Tokens: 200}, prefixCounted(9, call("Task", "subagent_type", "Explore")), "used in 1 of 10 sessions"},
		"an agent that is not called":    {Part{Kind: AgentPart, Name: "Plan", Tokens: 200}, prefixCounted(9, call("Task", "subagent_type", "Explore")), "used in none of 10 sessions"},
		"instructions of a used server":  {Part{Kind: OtherPart, Name: "github", Server: "github", Tokens: 200}, prefixCounted(9, call("mcp__github__list")), "used in 1 of 10 sessions"},
		"instructions of an unused one":  {Part{Kind: OtherPart, Name: "github", Server: "github", Tokens: 200}, prefixCounted(9), "used in none of 10 sessions"},
		"a session's first words, other": {Part{Kind: OtherPart, Name: "environment", Tokens: 200}, prefixCounted(99), "no switch of the client removes it"},
	} {
		v := Judge([]Part{c.part}, c.use)[0]
		assert.Equal(t, c.why, v.Why, name)
		assert.Equal(t, strings.HasPrefix(c.why, "used in none"), v.CanGo, name)
		assert.Equal(t, c.part, v.Part, name)
	}
}

// Tools of a server that nobody used go together, however small each is. Where one was used, the others are judged alone.
func TestAServerGoesAsAWhole(t *testing.T) {
	parts := []Part{
		{Kind: ToolPart, Name: "mcp__github__list", Server: "github", Tokens: 80}, {Kind: ToolPart, Name: "mcp__github__get", Server: "github", Tokens: 70},
		{Kind: SkillPart, Name: "github:review", Server: "github", Tokens: 40}, // a plugin of the same name
	}
	canGo := func(use *PartUse) (list []bool) {
		for _, v := range Judge(parts, use) {
			list = append(list, v.CanGo)
		}
		return list
	}
	assert.Equal(t, []bool{true, true, false}, canGo(prefixCounted(29)))
	assert.Equal(t, []bool{false, false, false}, canGo(prefixCounted(29, call("mcp__github__list"))))
	parts[1].Tokens = 150
	assert.Equal(t, []bool{false, true, false}, canGo(prefixCounted(29, call("mcp__github__list"))))
	assert.Equal(t, []bool{true, true, false}, canGo(prefixCounted(29, call("Skill", "skill", "github:review"))))
}

const skills = "The following skills are available:\n\n- review: looks at a change\n  and says what is wrong\n- go:test: runs tests\n"

func TestListedParts(t *testing.T) {
	attached := func(kind, text string) Step {
		return Step{Kind: Attach, Type: kind, Text: text}
	}
	s := Session{Steps: []Step{
		attached("skill_listing", skills), attached("skill_listing", skills),
		attached("agent_listing_delta", "- Explore: finds files (Tools: All tools)\n- Plan: plans"),
		attached("deferred_tools_delta", "WebFetch\nmcp__github__list"),
		attached("mcp_instructions_delta", "## github\nAsk for pages.\n\nTwo.\n\n## linear\nBe brief."),
		attached("edited_text_file", "- a: b"), {Kind: User, Text: skills},
	}}
	assert.Equal(t, []Part{
		{Kind: SkillPart, Name: "review", Tokens: tokens.Claude("- review: looks at a change\n  and says what is wrong\n")},
		{Kind: SkillPart, Name: "go:test", Server: "go", Tokens: tokens.Claude("- go:test: runs tests\n")},
		{Kind: AgentPart, Name: "Explore", Tokens: tokens.Claude("- Explore: finds files (Tools: All tools)\n")},
		{Kind: AgentPart, Name: "Plan", Tokens: tokens.Claude("- Plan: plans")},
		{Kind: ToolPart, Name: "WebFetch", Tokens: tokens.Claude("WebFetch\n")},
		{Kind: ToolPart, Name: "mcp__github__list", Server: "github", Tokens: tokens.Claude("mcp__github__list")},
		{Kind: OtherPart, Name: "github", Server: "github", Tokens: tokens.Claude("## github\nAsk for pages.\n\nTwo.\n\n")},
		{Kind: OtherPart, Name: "linear", Server: "linear", Tokens: tokens.Claude("## linear\nBe brief.")},
	}, listedParts(s))
}

// Where transcripts list the skills, a skill that was installed yesterday has been seen once.
func TestSeenIsWhereItWasListed(t *testing.T) {
	use := prefixCounted(29, Step{Kind: Attach, Type: "skill_listing", Text: skills})
	used, seen := use.Of(Part{Kind: SkillPart, Name: "review"})
	assert.Equal(t, []int{0, 1}, []int{used, seen})
	_, seen = use.Of(Part{Kind: ToolPart, Name: "Workflow"})
	assert.Equal(t, 30, seen, "a tool of the client's own")
	require.Equal(t, 30, use.Sessions())
}
