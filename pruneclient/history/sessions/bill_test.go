package sessions

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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
func paper() []Step {
	return []Step{
		{Kind: Call, Usage: counted(10, 2000, 0, 20)},
		{Kind: Result, ID: "r", Tool: "Read", Args: map[string]any{"file_path": "/r/a.go"}, Out: "text"},
		{Kind: Call, Usage: counted(10, 1000, 2000, 20)},
		{Kind: Call, Usage: counted(10, 100, 3000, 20)},
		{Kind: Call, Usage: counted(10, 100, 3100, 20)},
	}
}

func billed(steps []Step) *Bill {
	return NewBill(Session{ID: "paper", Steps: steps}, DefaultPrices)
}

func counted(in, write, read, out int) *Usage {
	return &Usage{Input: in, CacheWrite: write, CacheRead: read, Output: out}
}

func TestBillOnPaper(t *testing.T) {
	b := billed(paper())
	assert.InDelta(t, 2610+1560+535+545, b.Total, 1e-9)
	assert.InDelta(t, 2510+1460+435+445, b.Input, 1e-9, "the same without 4 x 20 x 5 of output")
	assert.InDelta(t, 1.25+0.1+0.1, b.Results[0].Weight, 1e-9, "written by call 1, read by calls 2 and 3")
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
		assert.InDelta(t, c.weight, billed(steps).Results[0].Weight, 1e-9, "call 2 read %d", c.read)
	}
}

// A compaction before call 2 ends the result's stay: only call 1 pays for it. What comes after it starts anew at call 2.
func TestCompactionOnPaper(t *testing.T) {
	steps := paper()
	late := Step{Kind: Result, ID: "q", Tool: "Read", Args: map[string]any{"file_path": "/r/b.go"}, Out: "text"}
	steps = append(steps[:3:3], append([]Step{{Kind: Compact}, late}, steps[3:]...)...)
	steps[6].Usage = counted(10, 1200, 2000, 20)
	b := billed(steps)
	require.Len(t, b.Results, 2)
	assert.InDelta(t, 1.25, b.Results[0].Weight, 1e-9)
	// No call of its context comes before call 2, so the middle of what call 2 added is (0+3110)/2 = 1555, and call 3
	// read 2,000 tokens.
	assert.InDelta(t, 1.25+0.1, b.Results[1].Weight, 1e-9)
	assert.InDelta(t, 2610+1560+535+1810, b.Total, 1e-9, "the bill is what the API counted, compacted or not")
}

// A result after the last call was never sent and costs nothing.
func TestUnsentResultOnPaper(t *testing.T) {
	steps := append(paper(), Step{Kind: Result, Tool: "Read", Out: "text"})
	assert.Zero(t, billed(steps).Results[1].Weight)
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
	b := billed([]Step{
		{Kind: User, Text: prompt},
		{Kind: Call},
		{Kind: Result, Tool: "Read", Out: out},
		{Kind: Call},
	})
	assert.False(t, b.Measured)
	assert.Equal(t, Usage{CacheWrite: 4000 + n}, b.Calls[0].Usage)
	assert.Equal(t, Usage{CacheRead: 4000 + n, CacheWrite: m}, b.Calls[1].Usage)
	assert.InDelta(t, float64(4000+n)*(1.25+0.1)+float64(m)*1.25, b.Total, 1e-6)
}

// Where a transcript without usage has times, a call after more than five minutes finds no cache, and the next one does.
func TestModelOfAPauseOnPaper(t *testing.T) {
	var read []int
	for _, c := range billed([]Step{
		{Kind: Call, At: time.Second}, {Kind: Call, At: 5 * time.Minute}, {Kind: Call, At: 11 * time.Minute}, {Kind: Call, At: 12 * time.Minute},
		{Kind: Call},
	}).Calls {
		read = append(read, c.Usage.CacheRead)
	}
	assert.Equal(t, []int{0, ModelledSystem, 0, ModelledSystem, ModelledSystem}, read)
}

// A session without usage, with thoughts, words, a tool call and a compaction. What the model writes is output of its call,
// and input of the next one.
//
//	call 0: writes 4000 + n                                          output o
//	call 1: reads  4000 + n, writes o + m
//	call 2: reads  4000, the system prompt; writes a tenth of n + o + m, the summary, and k
func TestModelOfAnswersAndCompactionOnPaper(t *testing.T) {
	prompt, out, thought, words, command := strings.Repeat("why does it fail ", 20), strings.Repeat("one line of a file\n", 50),
		"the limit is in another file", "I look there", "cat limits.go"
	n, m, k := tokens.Claude(prompt), tokens.Claude(out), tokens.Claude("go on")
	o := tokens.Claude(thought) + tokens.Claude(words) + 3 + tokens.Claude("command") + tokens.Claude(command) + 3 + tokens.Claude("timeout")
	b := billed([]Step{
		{Kind: User, Text: prompt},
		{Kind: Call},
		{Kind: Say, Text: words, Think: thought},
		{Kind: Use, Tool: "Bash", Args: map[string]any{"command": command, "timeout": 5.0}},
		{Kind: Result, Tool: "Bash", Out: out},
		{Kind: Call},
		{Kind: Compact},
		{Kind: User, Text: "go on"},
		{Kind: Call},
	})
	assert.Equal(t, Usage{CacheWrite: 4000 + n, Output: o}, b.Calls[0].Usage)
	assert.Equal(t, Usage{CacheRead: 4000 + n, CacheWrite: o + m}, b.Calls[1].Usage)
	assert.Equal(t, Usage{CacheRead: 4000, CacheWrite: (n+o+m)/10 + k}, b.Calls[2].Usage)
}

// Call 1 had a smaller prompt (1010) than call 0 (2010) although nothing says that the context was compacted: its text then
// begins nowhere before 1010, and a later call that read as much has it in the cache.
func TestCacheOfASmallerPromptOnPaper(t *testing.T) {
	steps := paper()
	steps[2].Usage, steps[3].Usage, steps[4].Usage = counted(10, 1000, 0, 20), counted(10, 0, 1010, 20), counted(10, 0, 1009, 20)
	assert.InDelta(t, 1.25+0.1+1.25, billed(steps).Results[0].Weight, 1e-9)
}

// What gain counts of a session with hooks: the weight of the cut result r, 1.25 + 0.1 + 0.1, and what was fetched again.
//
//	recover, 200 tokens, in call 2: the context of call 1 read once more, a short answer, and the tokens from then on:
//	        3010*0.1 + 150*5 + 200*(1.25 + 0.1) = 1321
//	the same file, 100 tokens, in call 3: 3110*0.1 + 150*5 + 100*1.25 = 1186
func TestCarriedOnPaper(t *testing.T) {
	result := func(tool string, args map[string]any) Step {
		return Step{Kind: Result, ID: "q", Tool: tool, Args: args, Out: "text"}
	}
	recover := result("Bash", map[string]any{"command": "mcp-pruner recover prn_1"})
	again := result("Read", map[string]any{"file_path": "/r/a.go"})
	compact := Step{Kind: Compact}
	for name, c := range map[string]struct {
		early, late []Step // before call 2, with 200 tokens each, and before call 3, with 100
		rereads     float64
	}{
		"recover":                    {early: []Step{recover}, rereads: 1321},
		"the file":                   {late: []Step{again}, rereads: 1186},
		"both":                       {early: []Step{recover}, late: []Step{again}, rereads: 1321 + 1186},
		"another id":                 {early: []Step{result("Bash", map[string]any{"command": "mcp-pruner recover prn_2"})}},
		"another file":               {late: []Step{result("Read", map[string]any{"file_path": "/r/b.go"})}},
		"an edit of the file":        {late: []Step{result("Edit", map[string]any{"file_path": "/r/a.go", "old_string": "a", "new_string": "b"})}},
		"the file, after compaction": {late: []Step{compact, again}},
	} {
		steps := paper()
		steps[1].ID = "r"
		carried := &Carried{billed(slices.Concat(steps[:3], c.early, steps[3:4], c.late, steps[4:]))}
		for i := range carried.B.Results {
			carried.B.Results[i].Tokens = map[int]int{1: 1000, 2: 200, 3: 100}[carried.B.Results[i].Call]
		}
		saved := carried.Saving("r", "prn_1", 0)
		rereads, ok := saved.Rereads, saved.Known
		assert.True(t, ok)
		assert.InDelta(t, c.rereads, rereads, 1e-9, name)
	}
	b := billed(paper())
	b.Results[0].Tokens = 1000
	b.Session.Steps[1].ID = "r"
	saved := (&Carried{b}).Saving("r", "prn_1", 1)
	weight, rereads, ok := saved.Gross, saved.Rereads, saved.Known
	assert.Equal(t, []any{1.45, 0.0, true}, []any{math.Round(weight*100) / 100, rereads, ok})
	assert.Equal(t, 3, saved.Less, "not sent in three prompts, whatever each costs")
	b.Results[0].Until = 2
	assert.Equal(t, 1, (&Carried{b}).Saving("r", "prn_1", 1).Less, "the client took it out before call 2")
	b.Session.Steps[1].ID = ""
	ok = (&Carried{b}).Saving("", "prn_1", 1).Known
	assert.False(t, ok, "a result without a call's id is not found by an empty one")
}

// A session is judged as one of another model at its prices, with the tokens that were counted: 4 calls' 40 fresh, 3,200 written, 8,100 read, 80 of output.
func TestASessionAsOneOfAnotherModel(t *testing.T) {
	s := Session{Steps: paper()}
	assert.InDelta(t, 40+3200*1.25+8100*.05+80*5, Billed(s.As("claude-opus-5-5"), nil).Total, 1e-9)
	assert.InDelta(t, 3240*1.25+8100*.05+80*5, Billed(s.As("gpt-6.2"), nil).Total, 1e-9, "what is fresh is written to the cache")
	assert.InDelta(t, 2610+1560+535+545, Billed(s, nil).Total, 1e-9, "it is as it was")
}

// TestBillOfEachClient works out one bill from each form of transcript that is read. opencode and Gemini CLI have none
// of their own here: their sessions are read as a collection.
func TestBillOfEachClient(t *testing.T) {
	for _, c := range []struct {
		name  string
		total float64
		lines string
	}{
		// 7 + 100*1.25 + 1000*0.1 + 9*5 = 277; the last line of an answer has its output.
		{"Claude Code", 277, `{"type":"assistant","sessionId":"s","message":{"id":"m","usage":{"input_tokens":7,"cache_creation_input_tokens":100,"cache_read_input_tokens":1000,"output_tokens":1},"content":"a"}}
{"type":"assistant","sessionId":"s","message":{"id":"m","usage":{"input_tokens":7,"cache_creation_input_tokens":100,"cache_read_input_tokens":1000,"output_tokens":9},"content":"b"}}`},
		// The main thread alone: what a sub-agent used (m2) is in the bill of its own transcript.
		{"Claude Code beside a sub-agent", 277, `{"type":"assistant","sessionId":"s","message":{"id":"m","usage":{"input_tokens":7,"cache_creation_input_tokens":100,"cache_read_input_tokens":1000,"output_tokens":9},"content":"a"}}
{"type":"assistant","isSidechain":true,"agentId":"x","sessionId":"s","message":{"id":"m2","usage":{"input_tokens":5000,"output_tokens":50},"content":"b"}}`},
		// 5000 + 50*5 = 5250
		{"a sub-agent of Claude Code", 5250, `{"type":"assistant","isSidechain":true,"agentId":"x","sessionId":"s","message":{"id":"m2","usage":{"input_tokens":5000,"output_tokens":50},"content":"b"}}`},
		// Codex counts the cached tokens in its input: (1000-600)*1 + 600*0.1 + 30*8 = 700.
		{"Codex", 700, `{"type":"session_meta","payload":{"id":"s"}}
{"type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"a"}]}}
{"type":"event_msg","payload":{"type":"token_count","info":{"last_token_usage":{"input_tokens":1000,"cached_input_tokens":600,"output_tokens":30}}}}`},
		// Of 100 tokens written 40 are kept for an hour: 60*1.25 + 40*2 + 9*5 = 200.
		{"a cache of an hour", 200, `{"type":"assistant","sessionId":"s","message":{"id":"m","model":"claude-opus-4-6","usage":{"cache_creation_input_tokens":100,"cache_creation":{"ephemeral_1h_input_tokens":40},"output_tokens":9},"content":"b"}}`},
		// No model is named, but a cache is read that nobody wrote: 10 + 30*0.1 + 4*8 = 45.
		{"a collection of opencode with OpenAI", 45, `{"id":"s","src":"opencode","steps":[{"k":"call","usage":{"input_tokens":10,"cache_read_input_tokens":30,"output_tokens":4}}]}`},
		// Google's output costs six: 10 + 4*6 = 34.
		{"a collection of Gemini CLI", 34, `{"id":"s","src":"gemini","steps":[{"k":"call","model":"gemini-3-pro","usage":{"input_tokens":10,"output_tokens":4}}]}`},
		// 10 + 20*1.25 + 30*0.1 + 4*5 = 58
		{"a collection", 58, `{"id":"s","src":"opencode","steps":[{"k":"call","usage":{"input_tokens":10,"cache_creation_input_tokens":20,"cache_read_input_tokens":30,"output_tokens":4}}]}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			var bills []float64
			require.NoError(t, Read(t.Context(), "s.jsonl", strings.NewReader(c.lines+"\n"), func(s Session) error {
				b := NewBill(s, modelOf(s, s.Model()).Prices)
				assert.True(t, b.Measured)
				bills = append(bills, b.Total)
				return nil
			}))
			require.Len(t, bills, 1)
			assert.InDelta(t, c.total, bills[0], 1e-9)
		})
	}
}

// A call whose answer has more than twice the tokens that the transcript counts has a placeholder: the texts count.
func TestPlaceholdersOnPaper(t *testing.T) {
	text := strings.Repeat("all of this was written ", 10)
	n := tokens.Claude(text)
	for counted, want := range map[int]int{1: n, n/2 - 1: n, n / 2: n / 2, 3 * n: 3 * n} {
		steps := paper()
		steps[0].Usage.Output = counted
		steps = slices.Insert(steps, 1, Step{Kind: Say, Text: text})
		b := billed(steps)
		assert.Equal(t, want, b.Calls[0].Usage.Output, "counted %d", counted)
		assert.Equal(t, want != counted, b.Guessed == 1)
		assert.InDelta(t, 2510+1460+435+445+float64(want+60)*5, b.Total, 1e-9)
	}
}

func TestOverrideOfPrices(t *testing.T) {
	o, err := ParsePrices(" cache_read=0.25, output=4")
	require.NoError(t, err)
	p := o.On(DefaultPrices)
	assert.Equal(t, Prices{Input: 1, CacheWrite: 1.25, CacheRead: 0.25, Output: 4, CacheHour: 2}, p)
	assert.Equal(t, DefaultPrices, PriceOverride(nil).On(DefaultPrices))
	assert.Equal(t, "input 1, cache write 1.25, cache read 0.25, output 4, write for an hour 2", p.String())
}
