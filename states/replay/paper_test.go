package replay

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history/bill"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/history/sessions"
	"github.com/mcp-pruner/mcp-pruner/states/existing"
	"github.com/mcp-pruner/mcp-pruner/states/replay/needs"
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

func billed(steps []sessions.Step) *bill.Bill {
	return bill.New(sessions.Session{ID: "paper", Steps: steps}, bill.DefaultPrices)
}

// A cut of a result of 5 lines keeps the lines 1 and 5. Line 3 was needed by the last answer (call 3, whose context is
// 3,210 tokens):
//
//	gross   (1000 - 300) tokens x 1.45, the weight of the result      = 1015
//	markers  20 tokens x 1.45                                         =   29
//	miss    3210 x 0.1 + 150 x 5 + the gap of lines 2 to 4 x 1.25, as call 3 is the last
//	        = 321 + 750 + gap x 1.25
func TestMissOnPaper(t *testing.T) {
	b := billed(paper())
	b.Results[0].Tokens = 1000
	body := existing.Body{Lines: []string{"first line here", "second line here", "third line here", "fourth line here", "fifth line here"}, First: 1}
	a := attempt{body: body, cut: existing.Cut{Kept: []int{1, 5}}, kept: 300, header: 20}
	tr := &trial{Bill: b, needs: [][]needs.Need{{{Line: 2, Step: len(b.Session.Steps) - 1, Rule: needs.RuleCite}}}}
	r := tr.row(a, func(_, line int) bool { return line >= 1 && line <= 3 })
	gap := tokens.Claude(body.Shown([]int{2, 3, 4}))
	require.Positive(t, gap)
	assert.InDelta(t, 1015, r.saved, 1e-9)
	assert.InDelta(t, 29, r.added, 1e-9)
	assert.Equal(t, gap, r.again, "the whole gap is fetched, not the line alone")
	assert.InDelta(t, 321+750+float64(gap)*1.25, r.miss, 1e-9)

	var o Outcome
	o.add(r)
	assert.InDelta(t, 1015-29-r.miss, o.Net(1), 1e-9)
	assert.InDelta(t, 1015-29-3*r.miss, o.Net(3), 1e-9, "misses counted three times")

	tr.needs[0][0].Earlier = []needs.Place{{Result: 7, Line: 0}}
	assert.False(t, tr.row(a, func(result, line int) bool { return result == 0 && line >= 1 && line <= 3 }).ok, "an earlier result shows the line")
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
