package replay

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/history/sessions"
	"github.com/mcp-pruner/mcp-pruner/states/existing"
	"github.com/mcp-pruner/mcp-pruner/tools/tokens"
)

// paper is a session whose bill is worked out by hand. A read of 1,000 tokens first stands in the prompt of call 1, and
// the caches are warm. Default prices: input 1, cache write 1.25, cache read 0.1, output 5.
//
//	call  input  write   read  output    price
//	0        10   2000      0      20    10 + 2000*1.25            + 20*5 = 2610
//	1        10   1000   2000      20    10 + 1000*1.25 + 2000*0.1 + 20*5 = 1560
//	2        10    100   3000      20    10 +  100*1.25 + 3000*0.1 + 20*5 =  535
//	3        10    100   3100      20    10 +  100*1.25 + 3100*0.1 + 20*5 =  545
func paper() []sessions.Step {
	return []sessions.Step{
		{Kind: sessions.Call, Usage: counted(10, 2000, 0, 20)},
		{Kind: sessions.Result, ID: "r", Tool: "Read", Args: map[string]any{"file_path": "/r/a.go"}, Out: "text"},
		{Kind: sessions.Call, Usage: counted(10, 1000, 2000, 20)},
		{Kind: sessions.Call, Usage: counted(10, 100, 3000, 20)},
		{Kind: sessions.Call, Usage: counted(10, 100, 3100, 20)},
	}
}

func billed(steps []sessions.Step) *sessions.Bill {
	return sessions.NewBill(sessions.Session{ID: "paper", Steps: steps}, sessions.DefaultPrices)
}

// lines is a result of 1,000 tokens whose cut keeps the lines 1 and 5 of 7: the gaps are the lines 2 to 4 and 6 to 7.
func lines(t *testing.T) (tr *trial, a attempt, gaps [2]int) {
	t.Helper()
	b := billed(paper())
	b.Results[0].Tokens = 1000
	body := existing.Body{Lines: []string{"first line here", "second line here", "third line here", "fourth line here", "fifth line here", "sixth one", "seventh"}, First: 1}
	a = attempt{body: body, cut: existing.Cut{Kept: []int{1, 5}}, kept: 300, header: 20}
	return &trial{Bill: b, attempts: map[int]attempt{0: a}}, a, [2]int{tokens.Claude(body.Shown([]int{2, 3, 4})), tokens.Claude(body.Shown([]int{6, 7}))}
}

func cutOf(line int) bool { return line != 0 && line != 4 }

// Line 3 was needed by the last answer (call 3, whose context is 3,210 tokens):
//
//	gross   (1000 - 300) tokens x 1.45, the weight of the result      = 1015
//	markers  20 tokens x 1.45                                         =   29
//	miss    3210 x 0.1 + 150 x 5 + the gap of lines 2 to 4 x 1.25, as call 3 is the last
//	        = 321 + 750 + gap x 1.25
func TestMissOnPaper(t *testing.T) {
	tr, a, gaps := lines(t)
	tr.needs = [][]need{{{Line: 2, Step: len(tr.Session.Steps) - 1, Rule: ruleCite}}}
	missed := tr.misses(tr.attempts, func(_, line int) bool { return cutOf(line) }, false)
	require.Len(t, missed, 1)
	r := tr.row(a, missed)
	assert.InDelta(t, 1015, r.saved, 1e-9)
	assert.InDelta(t, 29, r.added, 1e-9)
	assert.Equal(t, gaps[0], missed[0].again, "the whole gap is fetched, not the line alone")
	assert.InDelta(t, 321+750+float64(gaps[0])*1.25, r.miss, 1e-9)

	var o Outcome
	o.add(r)
	assert.InDelta(t, 1015-29-r.miss, o.Net(1), 1e-9)
	assert.InDelta(t, 1015-29-3*r.miss, o.Net(3), 1e-9, "misses counted three times")

	tr.needs[0][0].Earlier = []needPlace{{Result: 7, Line: 0}}
	assert.Empty(t, tr.misses(tr.attempts, func(result, line int) bool { return result == 0 && cutOf(line) }, false), "an earlier result shows the line")
}

// Each model call that lacks something pays a turn, once, and each gap is fetched once. Call 1 is at step 2 with a context
// of 3,010 tokens, call 2 at step 3 with 3,110, call 3 at step 4 with 3,210. A token that enters at call 2 weighs
// 1.25 + 0.1.
//
//	turn of call 2: 3110 x 0.1 + 750 = 1061        turn of call 3: 3210 x 0.1 + 750 = 1071
func TestEveryCallThatLacksSomethingPaysATurn(t *testing.T) {
	at := func(line, step int, rule rule) need {
		return need{Line: line, Step: step, Rule: rule}
	}
	tr, _, gaps := lines(t)
	first, second := float64(gaps[0]), float64(gaps[1])
	for name, c := range map[string]struct {
		needs      []need
		turns      int
		cost, wide float64
	}{
		"two gaps, one call":         {[]need{at(2, 3, ruleEdit), at(5, 3, ruleCite)}, 1, 1061 + (first+second)*1.35, 0},
		"two gaps, two calls":        {[]need{at(2, 3, ruleEdit), at(5, 4, ruleCite)}, 2, 1061 + first*1.35 + 1071 + second*1.25, 0},
		"one gap, two calls":         {[]need{at(3, 4, ruleEdit), at(2, 3, RuleShort)}, 2, 1061 + first*1.35 + 1071, 0},
		"one gap, one call":          {[]need{at(3, 3, ruleEdit), at(2, 3, RuleShort)}, 1, 1061 + first*1.35, 0},
		"a kept line":                {[]need{at(4, 3, ruleEdit)}, 0, 0, 0},
		"by the wide rule":           {[]need{at(2, 3, RuleWide)}, 0, 0, 1061 + first*1.35},
		"by the wide rule, the rest": {[]need{at(2, 3, ruleEdit), at(5, 4, RuleWide)}, 1, 1061 + first*1.35, 1071 + second*1.25},
	} {
		tr.needs = [][]need{c.needs}
		tr.attempts = map[int]attempt{0: {body: tr.attempts[0].body, cut: existing.Cut{Kept: []int{1, 5}, Total: 7}, kept: 300, decision: history.Decision{Prune: true}}}
		o := tr.judge(Hook)
		assert.Equal(t, c.turns, o.Turns, name)
		assert.InDelta(t, c.cost, o.Misses, 1e-9, name)
		assert.InDelta(t, c.cost+c.wide, o.Wide, 1e-9, name)
	}
}

// The definitions stand in every prompt: 760 x (1.25 + 3 x 0.1) = 1178. A compaction before call 2 makes two contexts of
// two calls each: 760 x 2 x (1.25 + 0.1) = 2052. A narrow read asks no question; the other one has an assumed question of
// 20 tokens: (8 + 20) x (5 + 1.45) = 180.6.
func TestServerOnPaper(t *testing.T) {
	charged := func(steps []sessions.Step) (o Outcome) {
		(&trial{Bill: billed(steps)}).chargeServer(&o)
		return o
	}
	assert.InDelta(t, 1178, charged(paper()).Definitions, 1e-9)
	assert.InDelta(t, 180.6, charged(paper()).Questions, 1e-9)
	narrow := paper()
	narrow[1].Args = map[string]any{"file_path": "/r/a.go", "offset": 10.0, "limit": 20.0}
	assert.Zero(t, charged(narrow).Questions)
	steps := paper()
	steps = append(steps[:3:3], append([]sessions.Step{{Kind: sessions.Compact}}, steps[3:]...)...)
	assert.InDelta(t, 2052, charged(steps).Definitions, 1e-9)
}
