package replay

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history/sessions"
)

// agents lists one agent of more than 150 tokens.
var agents = sessions.Step{Kind: sessions.Attach, Type: "agent_listing_delta", Text: "- Reviewer: " + strings.Repeat("looks at every change of the code ", 30)}

// listing returns a session of paper that begins on a day, lists the agent, and calls it in call 1 if it is to.
func listing(t *testing.T, id string, day int, calls bool) *Figures {
	t.Helper()
	steps := append([]sessions.Step{agents}, paper()...)
	if calls {
		use := sessions.Step{Kind: sessions.Use, Tool: "Task", Args: map[string]any{"subagent_type": "Reviewer"}}
		steps = append(steps[:4:4], append([]sessions.Step{use}, steps[4:]...)...)
	}
	one := sessions.Session{ID: id, Source: "claude", Project: "/r", Begun: time.Date(2026, 1, day, 0, 0, 0, 0, time.UTC), Steps: steps}
	f, err := compute(t.Context(), one, Settings{Policies: []Policy{All, Context}}, []Policy{All, Context})
	require.NoError(t, err)
	return f
}

// Ten sessions that do not use the agent come first, in whatever order they were read. From the eleventh on the listing is gone:
// its tokens stand in the prompt of call 0 and are read in three more, 1.25 + 3 x 0.1 each. The session of the thirteenth day
// calls it in call 1, whose context has 3,010 tokens: a turn is 3010 x 0.1 + 150 x 5, and the definitions stand in front, so that
// all is written again: 3010 x 1.25. Then it is back for good.
func TestContextOnPaper(t *testing.T) {
	var list []*Figures
	for day := 14; day >= 1; day-- {
		list = append(list, listing(t, strconv.Itoa(day), day, day == 13))
	}
	other := listing(t, "other", 20, false)
	other.Session.Project = "/other"
	chooseContexts(append(list, other), sessions.StandardRule())
	tokens := float64(list[0].facts.parts[0].Tokens)
	require.Greater(t, tokens, 150.0)
	for _, f := range list {
		o := f.outcomes[Context]
		day := f.Session.Begun.Day()
		switch {
		case day <= 10 || day == 14:
			assert.Equal(t, Outcome{}, o, "day %d", day)
		case day == 13:
			assert.InDelta(t, -(3010*.1 + 750 + 3010*1.25), o.Net(1), 1e-9)
			assert.True(t, o.hurt)
			assert.Equal(t, []int{0, 1, 1}, []int{o.Pruned, o.Missed, o.Turns})
			assert.True(t, f.PrefixSaving().Hurt)
		default:
			assert.InDelta(t, tokens*1.55, o.Net(1), 1e-9, "day %d", day)
			assert.Equal(t, []int{1, 0, 0}, []int{o.Pruned, o.Missed, o.Turns})
			s := f.PrefixSaving()
			assert.Equal(t, []int{day - 1, int(tokens)}, []int{s.Earlier, s.Off})
			assert.InDelta(t, tokens*1.55, s.Known, 1e-9, "all that is known has gone")
			assert.InDelta(t, s.Known+f.contents[sessions.Prefix].Sum(), s.Prefix, 1e-9)
		}
	}
	assert.Equal(t, Outcome{}, other.outcomes[Context], "another project has no earlier sessions")
}

// A token of a definition costs what the average token of the prefix costs: 1.25 + 3 x 0.1 in a session of paper, but for the ten
// tokens of call 0 that are fresh. A sub-agent's prefix is not known.
func TestDefinitionsInThePrefix(t *testing.T) {
	steps := append(paper(), sessions.Step{Kind: sessions.Use, Tool: "Read"})
	defined := func(id string) []standing {
		f := &Figures{trial: &trial{Bill: sessions.NewBill(sessions.Session{ID: id, Source: "claude", Version: "2.1.49", Steps: steps}, sessions.DefaultPrices)}}
		f.contents, f.prefixTokens = f.Contents()
		return f.prefixFacts().parts
	}
	parts := defined("s")
	require.Len(t, parts, 20)
	assert.Equal(t, sessions.Part{Kind: sessions.ToolPart, Name: "AskUserQuestion", Tokens: 1058}, parts[0].Part)
	assert.InDelta(t, 1058*(2000*1.25+10+2010*.3)/2010, parts[0].price, 1e-6)
	assert.Empty(t, defined("s/agent"))
}

// hook+gc and context together save a little more than their sum: each turn that hook+gc cost reads a smaller context.
func TestTogetherOnPaper(t *testing.T) {
	f := &Figures{trial: &trial{Bill: billed(paper())}, outcomes: map[Policy]Outcome{
		Both:    {Gross: 1000, Markers: 10, Misses: 300, Wide: 400, Turns: 2, Missed: 3},
		Context: {Gross: 500, Misses: 50, Wide: 50, gone: 100, hurt: true, Turns: 1},
	}}
	o := f.together()
	assert.InDelta(t, 1000+500-10-300-50+2*100*.1, o.Net(1), 1e-9)
	assert.InDelta(t, 450-20, o.Wide, 1e-9)
	assert.True(t, o.hurt)
}

// long is a session with so many results that the planner clears some.
func long() sessions.Session {
	out := strings.Repeat("every line of this output is as good as any other one\n", 300)
	var steps []sessions.Step
	for i := range 30 {
		id := strconv.Itoa(i)
		steps = append(steps, sessions.Step{Kind: sessions.Call}, sessions.Step{Kind: sessions.Use, ID: id, Tool: "Bash", Args: map[string]any{"command": "make " + id}},
			sessions.Step{Kind: sessions.Result, ID: id, Tool: "Bash", Args: map[string]any{"command": "make " + id}, Out: out})
	}
	return sessions.Session{ID: "long", Steps: steps}
}

// Every term that --explain prints of a policy adds up to the net that it prints.
func TestExplainAddsUp(t *testing.T) {
	explainAddsUp(t, sample(t), Hook, MCP, Proxy, Context, Both, All)
	explainAddsUp(t, long(), GC, Context, Both, All)
}

func explainAddsUp(t *testing.T, s sessions.Session, saving ...Policy) {
	t.Helper()
	f, err := compute(t.Context(), s, Settings{Policies: everyPolicy}, everyPolicy)
	require.NoError(t, err)
	chooseContexts([]*Figures{f}, sessions.StandardRule())
	f.facts.parts = []standing{{Part: sessions.Part{Kind: sessions.ToolPart, Name: "Workflow", Tokens: 1450}, price: 1234.5, gone: true}}
	f.outcomes[Context] = Outcome{Gross: 1234.5, gone: 1450, hurt: true, Misses: 77.25, Wide: 77.25, Missed: 1, Turns: 1, again: 9}
	f.outcomes[All] = f.together()
	var b strings.Builder
	require.NoError(t, f.Explain(&b, everyPolicy))
	sections := strings.Split(b.String(), "\npolicy ")[1:]
	require.Len(t, sections, len(everyPolicy))
	number := func(text, pattern string) (sum float64) {
		for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1) {
			n, err := strconv.ParseFloat(m[1], 64)
			require.NoError(t, err)
			sum += n
		}
		return sum
	}
	for i, p := range everyPolicy {
		text := sections[i]
		net := number(text, `(?m)^gross .* = net (-?[\d.]+), `)
		terms := 0.0
		switch p {
		case GC:
			terms = number(text, `prompts ([\d.]+) -`) - number(text, `times ([\d.]+) =`)
		case Both:
			terms = number(text, `net (-?[\d.]+) of the hook`) + number(text, `prompts ([\d.]+) -`) - number(text, `times ([\d.]+) =`)
		case Context:
			terms = number(text, `(?m)^tool .*\s([\d.]+)$`) - number(text, `cost ([\d.]+)\n`)
		case All:
			terms = number(text, `net (-?[\d.]+) of hook\+gc`) + number(text, `net (-?[\d.]+) of context`) +
				number(text, `\+ (\d+) turns x`)*number(text, `turns x (\d+) tokens`)*number(text, `read x ([\d.]+)\n`)
		default:
			terms = number(text, `(?m)^\d+ +\d+ +\d+ +\d+ +([\d.]+) +[\d.]+ +[\d.]+$`) - number(text, `(?m)^\d+ +\d+ +\d+ +\d+ +[\d.]+ +([\d.]+) +[\d.]+$`) -
				number(text, `(?m)^\d+ .* ([\d.]+)$`) + number(text, `(?m)^\d+ +\d+ +\d+ +\d+ +[\d.]+ +[\d.]+ +([\d.]+)$`) -
				number(text, `definitions = (\d+) x`)*number(text, `definitions = \d+ x ([\d.]+),`)
		}
		assert.InDelta(t, net, terms, 3, "terms are rounded: policy %s:\n%s", p, text)
		if slices.Contains(saving, p) {
			assert.NotZero(t, net, p)
		}
		o := f.outcomes[p]
		assert.InDelta(t, o.Net(1), net, .06, p)
	}
}

var everyPolicy = []Policy{Hook, MCP, Proxy, GC, Context, Both, All}
