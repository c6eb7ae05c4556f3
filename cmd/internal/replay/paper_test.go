package replay

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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

func billed(steps []sessions.Step) *bill {
	return newBill(sessions.Session{ID: "paper", Steps: steps}, DefaultPrices)
}

func TestBillOnPaper(t *testing.T) {
	b := billed(paper())
	assert.InDelta(t, 2610+1560+535+545, b.total, 1e-9)
	assert.InDelta(t, 2510+1460+435+445, b.input, 1e-9, "the same without 4 x 20 x 5 of output")
	assert.InDelta(t, 1.25+0.1+0.1, b.results[0].weight, 1e-9, "written by call 1, read by calls 2 and 3")
}

// The cache of call 0 has 2010 tokens and that of call 1 has 3010: what call 1 added is in the cache for a later call that
// read at least (2010+3010)/2 = 2510 tokens.
func TestCacheExpiryOnPaper(t *testing.T) {
	for _, c := range []struct {
		read   int
		weight float64
	}{
		{2510, 1.25 + 0.1 + 0.1},
		{2509, 1.25 + 1.25 + 0.1},
		{0, 1.25 + 1.25 + 0.1},
	} {
		steps := paper()
		steps[3].Usage = counted(10, 3100-c.read, c.read, 20)
		assert.InDelta(t, c.weight, billed(steps).results[0].weight, 1e-9, "call 2 read %d", c.read)
	}
}

// A compaction before call 2 ends the result's stay: only call 1 pays for it. What comes after it starts anew at call 2.
func TestCompactionOnPaper(t *testing.T) {
	steps := paper()
	late := sessions.Step{Kind: sessions.Result, ID: "q", Tool: "Read", Args: map[string]any{"file_path": "/r/b.go"}, Out: "text"}
	steps = append(steps[:3:3], append([]sessions.Step{{Kind: sessions.Compact}, late}, steps[3:]...)...)
	steps[6].Usage = counted(10, 1200, 2000, 20)
	b := billed(steps)
	require.Len(t, b.results, 2)
	assert.InDelta(t, 1.25, b.results[0].weight, 1e-9)
	// No call of its context comes before call 2, so the middle of what call 2 added is (0+3110)/2 = 1555, and call 3
	// read 2,000 tokens.
	assert.InDelta(t, 1.25+0.1, b.results[1].weight, 1e-9)
	assert.InDelta(t, 2610+1560+535+1810, b.total, 1e-9, "the bill is what the API counted, compacted or not")
}

// A result after the last call was never sent and costs nothing.
func TestUnsentResultOnPaper(t *testing.T) {
	steps := append(paper(), sessions.Step{Kind: sessions.Result, Tool: "Read", Out: "text"})
	assert.Zero(t, billed(steps).results[1].weight)
}

// A session without usage: 4,000 tokens of system prompt, and words of the user of n tokens.
//
//	call 0: writes 4000 + n
//	call 1: reads  4000 + n, writes m, the tokens of the result
func TestModelOnPaper(t *testing.T) {
	prompt, out := strings.Repeat("why does it fail ", 20), strings.Repeat("one line of a file\n", 50)
	n, m := tokens.Claude(prompt), tokens.Claude(out)
	require.Positive(t, n)
	require.Positive(t, m)
	b := billed([]sessions.Step{
		{Kind: sessions.User, Text: prompt},
		{Kind: sessions.Call},
		{Kind: sessions.Result, Tool: "Read", Out: out},
		{Kind: sessions.Call},
	})
	assert.False(t, b.measured)
	assert.Equal(t, sessions.Usage{CacheWrite: 4000 + n}, b.calls[0].usage)
	assert.Equal(t, sessions.Usage{CacheRead: 4000 + n, CacheWrite: m}, b.calls[1].usage)
	assert.InDelta(t, float64(4000+n)*(1.25+0.1)+float64(m)*1.25, b.total, 1e-6)
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
	b.results[0].tokens = 1000
	body := existing.Body{Lines: []string{"first line here", "second line here", "third line here", "fourth line here", "fifth line here"}, First: 1}
	a := attempt{body: body, cut: existing.Cut{Kept: []int{1, 5}}, kept: 300, header: 20}
	tr := &trial{bill: b, needs: [][]need{{{line: 2, step: len(b.session.Steps) - 1, rule: ruleCite}}}}
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

	tr.needs[0][0].earlier = []place{{result: 7, line: 0}}
	assert.False(t, tr.row(a, func(result, line int) bool { return result == 0 && line >= 1 && line <= 3 }).ok, "an earlier result shows the line")
}

// The definitions stand in every prompt: 760 x (1.25 + 3 x 0.1) = 1178. A compaction before call 2 makes two contexts of
// two calls each: 760 x 2 x (1.25 + 0.1) = 2052. A narrow read asks no question; the other one has an assumed question of
// 20 tokens: (8 + 20) x (5 + 1.45) = 180.6.
func TestServerOnPaper(t *testing.T) {
	charged := func(steps []sessions.Step) (o Outcome) {
		(&trial{bill: billed(steps)}).chargeServer(&o)
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
