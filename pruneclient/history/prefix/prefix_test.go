package prefix

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history/sessions"
	"github.com/mcp-pruner/mcp-pruner/tools/tokens"
)

func call(tool string, args ...string) sessions.Step {
	s := sessions.Step{Kind: sessions.Use, Tool: tool, Args: map[string]any{}}
	for i := 0; i < len(args); i += 2 {
		s.Args[args[i]] = args[i+1]
	}
	return s
}

// counted counts so many empty sessions, and then one with these steps.
func counted(empty int, steps ...sessions.Step) *Use {
	use := NewUse()
	for range empty {
		use.Add(sessions.Session{})
	}
	use.Add(sessions.Session{Steps: steps})
	return use
}

func TestWhatCouldGo(t *testing.T) {
	tool := func(name string, tokens int) Part {
		return Part{Kind: Tool, Name: name, Server: ServerOf(name), Tokens: tokens}
	}
	for name, c := range map[string]struct {
		part Part
		use  *Use
		why  string
	}{
		"an unused tool":                 {tool("Workflow", 1450), counted(9), "used in none of 10 sessions"},
		"one session too few":            {tool("Workflow", 1450), counted(8), "seen in 9 sessions, of 10 that are needed"},
		"a small one":                    {tool("Workflow", 149), counted(9), "less than 150 tokens"},
		"the smallest":                   {tool("Workflow", 150), counted(9), "used in none of 10 sessions"},
		"a used one":                     {tool("Workflow", 1450), counted(30, call("Workflow")), "used in 1 of 31 sessions"},
		"one that runs commands":         {tool("Bash", 990), counted(99), "agents work with it"},
		"one that finds deferred tools":  {tool("ToolSearch", 990), counted(99), "agents work with it"},
		"another server's read":          {tool("mcp__files__read_file", 990), counted(9), "used in none of 10 sessions"},
		"an administrator's":             {Part{Kind: Tool, Name: "Workflow", Tokens: 1450, Decided: "an administrator"}, counted(99), "decided by an administrator"},
		"a memory file":                  {Part{Kind: Memory, Name: "CLAUDE.md", Tokens: 9000}, counted(99), "memory files are the user's"},
		"the system prompt":              {Part{Kind: System, Name: "system", Tokens: 9000}, counted(99), "no switch of the client removes it"},
		"plan mode, after ten sessions":  {tool("EnterPlanMode", 1080), counted(9), "seen in 10 sessions, of 30 that are needed"},
		"plan mode, after thirty":        {tool("EnterPlanMode", 1080), counted(29), "used in none of 30 sessions"},
		"plan mode, left once":           {tool("EnterPlanMode", 1080), counted(29, call("ExitPlanMode")), "used in 1 of 30 sessions"},
		"a tool by its older name":       {tool("Agent", 1340), counted(29, call("Task")), "used in 1 of 30 sessions"},
		"a skill, after ten":             {Part{Kind: Skill, Name: "review", Tokens: 200}, counted(9), "seen in 10 sessions, of 30 that are needed"},
		"a skill that the user called":   {Part{Kind: Skill, Name: "review", Tokens: 200}, counted(29, sessions.Step{Kind: sessions.User, Text: "<command-name>/review</command-name>"}), "used in 1 of 30 sessions"},
		"a skill that the model called":  {Part{Kind: Skill, Name: "review", Tokens: 200}, counted(29, call("Skill", "skill", "review")), "used in 1 of 30 sessions"},
		"an agent":                       {Part{Kind: Agent, Name: "Explore", Tokens: 200}, counted(9, call("Task", "subagent_type", "Explore")), "used in 1 of 10 sessions"},
		"an agent that is not called":    {Part{Kind: Agent, Name: "Plan", Tokens: 200}, counted(9, call("Task", "subagent_type", "Explore")), "used in none of 10 sessions"},
		"instructions of a used server":  {Part{Kind: Other, Name: "github", Server: "github", Tokens: 200}, counted(9, call("mcp__github__list")), "used in 1 of 10 sessions"},
		"instructions of an unused one":  {Part{Kind: Other, Name: "github", Server: "github", Tokens: 200}, counted(9), "used in none of 10 sessions"},
		"a session's first words, other": {Part{Kind: Other, Name: "environment", Tokens: 200}, counted(99), "no switch of the client removes it"},
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
		{Kind: Tool, Name: "mcp__github__list", Server: "github", Tokens: 80}, {Kind: Tool, Name: "mcp__github__get", Server: "github", Tokens: 70},
		{Kind: Skill, Name: "github:review", Server: "github", Tokens: 40}, // a plugin of the same name
	}
	canGo := func(use *Use) (list []bool) {
		for _, v := range Judge(parts, use) {
			list = append(list, v.CanGo)
		}
		return list
	}
	assert.Equal(t, []bool{true, true, false}, canGo(counted(29)))
	assert.Equal(t, []bool{false, false, false}, canGo(counted(29, call("mcp__github__list"))))
	parts[1].Tokens = 150
	assert.Equal(t, []bool{false, true, false}, canGo(counted(29, call("mcp__github__list"))))
	assert.Equal(t, []bool{true, true, false}, canGo(counted(29, call("Skill", "skill", "github:review"))))
}

const skills = "The following skills are available:\n\n- review: looks at a change\n  and says what is wrong\n- go:test: runs tests\n"

func TestListedParts(t *testing.T) {
	attached := func(kind, text string) sessions.Step {
		return sessions.Step{Kind: sessions.Attach, Type: kind, Text: text}
	}
	s := sessions.Session{Steps: []sessions.Step{
		attached("skill_listing", skills), attached("skill_listing", skills),
		attached("agent_listing_delta", "- Explore: finds files (Tools: All tools)\n- Plan: plans"),
		attached("deferred_tools_delta", "WebFetch\nmcp__github__list"),
		attached("mcp_instructions_delta", "## github\nAsk for pages.\n\nTwo.\n\n## linear\nBe brief."),
		attached("edited_text_file", "- a: b"), {Kind: sessions.User, Text: skills},
	}}
	assert.Equal(t, []Part{
		{Kind: Skill, Name: "review", Tokens: tokens.Claude("- review: looks at a change\n  and says what is wrong\n")},
		{Kind: Skill, Name: "go:test", Server: "go", Tokens: tokens.Claude("- go:test: runs tests\n")},
		{Kind: Agent, Name: "Explore", Tokens: tokens.Claude("- Explore: finds files (Tools: All tools)\n")},
		{Kind: Agent, Name: "Plan", Tokens: tokens.Claude("- Plan: plans")},
		{Kind: Tool, Name: "WebFetch", Tokens: tokens.Claude("WebFetch\n")},
		{Kind: Tool, Name: "mcp__github__list", Server: "github", Tokens: tokens.Claude("mcp__github__list")},
		{Kind: Other, Name: "github", Server: "github", Tokens: tokens.Claude("## github\nAsk for pages.\n\nTwo.\n\n")},
		{Kind: Other, Name: "linear", Server: "linear", Tokens: tokens.Claude("## linear\nBe brief.")},
	}, Listed(s))
}

// Where transcripts list the skills, a skill that was installed yesterday has been seen once.
func TestSeenIsWhereItWasListed(t *testing.T) {
	use := counted(29, sessions.Step{Kind: sessions.Attach, Type: "skill_listing", Text: skills})
	used, seen := use.Of(Part{Kind: Skill, Name: "review"})
	assert.Equal(t, []int{0, 1}, []int{used, seen})
	_, seen = use.Of(Part{Kind: Tool, Name: "Workflow"})
	assert.Equal(t, 30, seen, "a tool of the client's own")
	require.Equal(t, 30, use.Sessions())
}
