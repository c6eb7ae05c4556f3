package replay

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/history/sessions"
	"github.com/mcp-pruner/mcp-pruner/states/existing"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc/planner"
	"github.com/mcp-pruner/mcp-pruner/tools/tokens"
)

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
	b := billed([]sessions.Step{
		{Kind: sessions.User, Text: prompt},
		{Kind: sessions.Call},
		{Kind: sessions.Say, Text: words, Think: thought},
		{Kind: sessions.Use, Tool: "Bash", Args: map[string]any{"command": command, "timeout": 5.0}},
		{Kind: sessions.Result, Tool: "Bash", Out: out},
		{Kind: sessions.Call},
		{Kind: sessions.Compact},
		{Kind: sessions.User, Text: "go on"},
		{Kind: sessions.Call},
	})
	assert.Equal(t, sessions.Usage{CacheWrite: 4000 + n, Output: o}, b.calls[0].usage)
	assert.Equal(t, sessions.Usage{CacheRead: 4000 + n, CacheWrite: o + m}, b.calls[1].usage)
	assert.Equal(t, sessions.Usage{CacheRead: 4000, CacheWrite: (n+o+m)/10 + k}, b.calls[2].usage)
}

// Call 1 had a smaller prompt (1010) than call 0 (2010) although nothing says that the context was compacted: its text then
// begins nowhere before 1010, and a later call that read as much has it in the cache.
func TestCacheOfASmallerPromptOnPaper(t *testing.T) {
	steps := paper()
	steps[2].Usage, steps[3].Usage, steps[4].Usage = counted(10, 1000, 0, 20), counted(10, 0, 1010, 20), counted(10, 0, 1009, 20)
	assert.InDelta(t, 1.25+0.1+1.25, billed(steps).results[0].weight, 1e-9)
}

// tried is a session of one result per tool, each of 1,000 tokens and with a cut that keeps the first of its three lines; a
// tool's name may end in "!" for a failed call.
func tried(tools ...string) *trial {
	steps := []sessions.Step{{Kind: sessions.Call, Usage: counted(10, 2000, 0, 20)}}
	for _, tool := range tools {
		name, failed := strings.CutSuffix(tool, "!")
		args := map[string]any{"file_path": "/r/a.go", "command": "go test ./..."}
		steps = append(steps, sessions.Step{Kind: sessions.Result, ID: tool, Tool: name, Args: args, Out: "text", Err: failed})
	}
	steps = append(steps, sessions.Step{Kind: sessions.Call, Usage: counted(10, 1000, 2000, 20)})
	tr := &trial{bill: billed(steps), needs: make([][]need, len(tools)), attempts: map[int]attempt{}, served: map[int]attempt{}}
	for i := range tools {
		tr.results[i].tokens = 1000
		tr.attempts[i] = attempt{result: i, question: "why", decision: history.Decision{Prune: true}, kept: 300, header: 20,
			cut: existing.Cut{Kept: []int{1}, Total: 3}, body: existing.Body{Lines: []string{"one", "two", "three"}, First: 1}}
		tr.served[i] = tr.attempts[i]
	}
	return tr
}

func TestWhatEachPolicyPrunes(t *testing.T) {
	for tool, want := range map[string][]Policy{
		"Read": {Hook, MCP, Proxy}, "Bash": {Hook, MCP, Proxy}, "Bash!": {Proxy}, "mcp__files__page": {Hook, Proxy}, "mcp__files__page!": {Proxy},
		"WebFetch": {Proxy},
	} {
		tr := tried(tool)
		for _, p := range []Policy{Hook, MCP, Proxy} {
			assert.Equal(t, slices.Contains(want, p), tr.prunes(p, tr.attempts[0]), "%s of %s", p, tool)
		}
	}
	for name, spoil := range map[string]func(*attempt){
		"the pruner failed":     func(a *attempt) { a.err = errors.New("x") },
		"the decision is no":    func(a *attempt) { a.decision.Prune = false },
		"all lines are kept":    func(a *attempt) { a.cut.Kept = []int{1, 2, 3} },
		"all, and one was more": func(a *attempt) { a.cut.Kept, a.cut.Total = []int{1, 2, 3, 4}, 3 },
	} {
		tr := tried("Read")
		a := tr.attempts[0]
		spoil(&a)
		assert.False(t, tr.prunes(Proxy, a), name)
	}
}

// Each result is sent once, so a token weighs 1.25. A pruned one saves 700 x 1.25 = 875 and has markers of 20 x 1.25 = 25.
func TestOutcomesOnPaper(t *testing.T) {
	tr := tried("Read", "Bash")
	tr.needs[0] = []need{{line: 1, step: 3, rule: ruleEdit}}
	// Line 2 of the command's output stands in the file, too: it is missed only where the file is cut there as well.
	tr.needs[1] = []need{{line: 1, step: 3, rule: ruleEdit, earlier: []place{{result: 0, line: 1}}}}
	delete(tr.served, 0) // our server returns the file whole
	o := tr.judge(Hook)
	assert.InDeltaSlice(t, []float64{1750, 50, 0, 0}, []float64{o.Gross, o.Markers, o.Questions, o.Definitions}, 1e-9)
	assert.Equal(t, []int{2, 2}, []int{o.Pruned, o.Missed})

	o = tr.judge(MCP)
	q := float64(askTokens + tokens.Claude("why"))
	assert.InDeltaSlice(t, []float64{875, 25, 2 * q * (5 + 1.25), 760 * (1.25 + 0.1)}, []float64{o.Gross, o.Markers, o.Questions, o.Definitions}, 1e-9)
	assert.Equal(t, []int{1, 0}, []int{o.Pruned, o.Missed})
	assert.InDelta(t, o.Gross-o.Markers-o.Questions-o.Definitions, o.Net(2), 1e-9)

	tr.asking = AsksSearches
	assert.Zero(t, tr.judge(MCP).Pruned, "nothing is asked of the command, so that nothing is cut")
	assert.Equal(t, 2, tr.judge(Hook).Pruned, "a hook needs no question")
}

// The turn of a miss comes before the step that needs the line, in the last call that had begun.
func TestTurnOfAMissOnPaper(t *testing.T) {
	tr := &trial{bill: billed(paper())} // calls at the steps 0, 2, 3 and 4, with prompts of 2010, 3010, 3110 and 3210 tokens
	for step, want := range map[int]int{0: 2010, 1: 2010, 2: 3010, 3: 3110, 4: 3210, 9: 3210} {
		context, _ := tr.turnBefore(step)
		assert.Equal(t, want, context, "step %d", step)
	}
}

func TestQuestionsOnPaper(t *testing.T) {
	careful := func(tr *trial) { tr.attempts[0] = attempt{question: "why", decision: history.Decision{Careful: true}} }
	for _, c := range []struct {
		name   string
		tool   string
		change func(*trial)
		tokens int
	}{
		{"a question", "Read", func(*trial) {}, askTokens + tokens.Claude("why")},
		{"a long one counts 40", "Read", func(tr *trial) { tr.attempts[0] = attempt{question: strings.Repeat("why not so ", 40)} }, 48},
		{"one that is not known counts 20", "Read", func(tr *trial) { tr.attempts = nil }, 28},
		{"the file is about to be edited", "Read", careful, 0},
		{"the same without the decision", "Read", func(tr *trial) { careful(tr); tr.without = Decision }, askTokens + tokens.Claude("why")},
		{"a tool that is not ours", "WebFetch", func(*trial) {}, 0},
		{"a command", "Bash", func(tr *trial) { tr.asking = AsksSearches }, 0},
		{"a search", "Grep", func(tr *trial) { tr.asking = AsksSearches }, askTokens + tokens.Claude("why")},
		{"a long result", "Bash", func(tr *trial) { tr.asking, tr.results[0].tokens = AsksWell, 800 }, askTokens + tokens.Claude("why")},
		{"a short result", "Bash", func(tr *trial) { tr.asking, tr.results[0].tokens = AsksWell, 799 }, 0},
	} {
		tr, o := tried(c.tool), Outcome{}
		c.change(tr)
		tr.chargeServer(&o)
		assert.InDelta(t, float64(c.tokens)*(5+1.25), o.Questions, 1e-9, c.name)
	}
	tr, o := tried("Read"), Outcome{}
	tr.defined = true
	tr.chargeServer(&o)
	assert.Zero(t, o.Definitions, "our tools take the place of the client's")
}

// clearsAt clears items before the calls with these numbers, from 1, and notes what it was shown.
type clearsAt struct {
	which map[int][]int
	shown []planner.Window
}

func (c *clearsAt) Decide(w planner.Window) planner.Decision {
	c.shown = append(c.shown, w)
	return planner.Decision{Clear: c.which[w.Call]}
}

// The session of paper with a result of 1,000 tokens, which is cleared before the third call; a stub has 25 tokens. Then the
// file is edited: the model would have had to read it again.
//
//	call  without                       with clearing
//	1     2010*1.25          = 2512.5   the same
//	2     2010*0.1+1000*1.25 = 1451     the same
//	3     3010*0.1           =  301     2010*0.1 + 25*1.25      =  232.25
//	      the file is edited            2035*0.1 + 150*5        =  953.5
//	4     3010*0.1           =  301     2035*0.1 + 1000*1.25    = 1453.5
func TestClearingOnPaper(t *testing.T) {
	steps := paper()
	edit := sessions.Step{Kind: sessions.Result, Tool: "Edit", Args: map[string]any{"file_path": "/r/a.go", "old_string": "a", "new_string": "b"}}
	command := sessions.Step{Kind: sessions.Result, Tool: "Bash", Args: map[string]any{"command": "sed -i s/a/b/ /r/a.go"}}
	other := sessions.Step{Kind: sessions.Result, Tool: "Bash", Args: map[string]any{"command": "sed -i s/a/b/ /r/b.go"}}
	for name, c := range map[string]struct {
		then   sessions.Step
		after  float64
		reread float64
	}{
		"an edit":               {edit, 953.5 + 1453.5, 953.5 + 1250},
		"a command that edits":  {command, 953.5 + 1453.5, 953.5 + 1250},
		"a command on another":  {other, 203.5, 0},
		"nothing":               {sessions.Step{Kind: sessions.Say}, 203.5, 0},
		"a compaction":          {sessions.Step{Kind: sessions.Compact}, 3210 * 1.25, 0},
		"words, and a new call": {sessions.Step{Kind: sessions.Say, Text: "well"}, 203.5 + 1.25*float64(tokens.Claude("well")), 0},
	} {
		by := &clearsAt{which: map[int][]int{3: {0}}}
		f := figuresOf(append(append(steps[:4:4], c.then), steps[4:]...))
		bill := f.clearWith(planner.DefaultPolicy(), by)
		assert.InDelta(t, 2512.5+1451+232.25+c.after, bill.After, 1e-9, name)
		assert.InDelta(t, c.reread, bill.Reread, 1e-9, name)
		assert.Equal(t, "/r/a.go", by.shown[1].Items[0].Path)
		if name == "nothing" {
			assert.InDelta(t, 2512.5+1451+301+301, bill.Before, 1e-9)
		}
	}
}

// figuresOf returns the figures of a session whose first result has 1,000 tokens.
func figuresOf(steps []sessions.Step) *figures {
	f := &figures{trial: &trial{bill: billed(steps)}}
	f.results[0].tokens = 1000
	return f
}

// The cache has expired where a call read less than half of the prompt before: 3010/2 = 1505 tokens. Without usage it never has,
// and the system prompt of 4,000 tokens is what the transcript does not have.
func TestExpiryForClearingOnPaper(t *testing.T) {
	for read, expired := range map[int]bool{1505: false, 1504: true} {
		steps, by := paper(), &clearsAt{}
		steps[3].Usage = counted(10, 3100-read, read, 20)
		figuresOf(steps).clearWith(planner.DefaultPolicy(), by)
		assert.Equal(t, expired, by.shown[2].Expired, "call 3 read %d", read)
		assert.False(t, by.shown[0].Expired, "the first call has no cache")
	}
	steps, by := paper(), &clearsAt{}
	for i := range steps {
		steps[i].Usage = nil
	}
	figuresOf(steps).clearWith(planner.DefaultPolicy(), by)
	assert.Equal(t, []int{4000, 5000}, []int{by.shown[0].Tokens, by.shown[1].Tokens})
}

// What the transcript does not have of a context's first prompt, such as the system prompt, is the rest of its usage: with the
// user's words before it, and with a result of 1,000 tokens after a compaction, a prompt has the size that the API counted. Words
// that are larger than the prompt leave no rest.
func TestRestOfAPromptOnPaper(t *testing.T) {
	question := sessions.Step{Kind: sessions.User, Text: "why does it fail"}
	steps := append([]sessions.Step{question, {Kind: sessions.Compact}}, paper()[1:]...)
	by := &clearsAt{}
	figuresOf(steps).clearWith(planner.DefaultPolicy(), by)
	assert.Equal(t, 3010, by.shown[0].Tokens, "call 1 of paper is the first here")
	by = &clearsAt{}
	figuresOf(append([]sessions.Step{question}, paper()...)).clearWith(planner.DefaultPolicy(), by)
	assert.Equal(t, []int{2010, 3010}, []int{by.shown[0].Tokens, by.shown[1].Tokens})
	question.Text = strings.Repeat("why does it fail ", 2000)
	by = &clearsAt{}
	figuresOf(append([]sessions.Step{question}, paper()...)).clearWith(planner.DefaultPolicy(), by)
	assert.Equal(t, tokens.Claude(question.Text), by.shown[0].Tokens)
}

// The figures of the policy gc are the change by the planner and by the fixed rule, at the prices of the session.
func TestClearedIsTheChange(t *testing.T) {
	var steps []sessions.Step
	for i := range 30 {
		step := sessions.Step{Kind: sessions.Result, Tool: "Bash", Out: "text"}
		if i == 0 {
			step.Tool, step.Args = "Read", map[string]any{"file_path": "/r/a.go"}
		}
		steps = append(steps, sessions.Step{Kind: sessions.Call}, step)
	}
	steps = append(steps, sessions.Step{Kind: sessions.Result, Tool: "Edit", Args: map[string]any{"file_path": "/r/a.go", "old_string": "a", "new_string": "b"}})
	f := &figures{trial: &trial{bill: newBill(sessions.Session{Steps: steps}, Prices{Input: 1, CacheWrite: 2, CacheRead: 0.2, Output: 7})}}
	for i := range 30 {
		f.results[i].tokens = 5000
	}
	policy := planner.DefaultPolicy()
	policy.Prices = planner.Prices{Write: 2, Read: 0.2, Output: 7}
	ours, fixed := f.clearWith(policy, policy), f.clearWith(policy, planner.BestFixedRule())
	assert.Negative(t, ours.Change())
	assert.Positive(t, ours.Reread)
	assert.NotEqual(t, ours.After, fixed.After)
	assert.Equal(t, cleared{input: ours.Before, change: ours.After - ours.Before, reread: ours.Reread, fixed: fixed.After - fixed.Before}, f.clear())
	// 30 calls write 4,000 and 29 times 5,000 tokens, and read 4,000 + 5,000 i tokens in call i + 2.
	assert.InDelta(t, 2*(4000+29*5000)+0.2*(29*4000+5000*28*29/2), ours.Before, 1e-6)
}

// What gain counts of a session with hooks: the weight of the cut result r, 1.25 + 0.1 + 0.1, and what was fetched again.
//
//	recover, 200 tokens, in call 2: the context of call 1 read once more, a short answer, and the tokens from then on:
//	        3010*0.1 + 150*5 + 200*(1.25 + 0.1) = 1321
//	the same file, 100 tokens, in call 3: 3110*0.1 + 150*5 + 100*1.25 = 1186
func TestCarriedOnPaper(t *testing.T) {
	result := func(tool string, args map[string]any) sessions.Step {
		return sessions.Step{Kind: sessions.Result, ID: "q", Tool: tool, Args: args, Out: "text"}
	}
	recover := result("Bash", map[string]any{"command": "mcp-pruner recover prn_1"})
	again := result("Read", map[string]any{"file_path": "/r/a.go"})
	compact := sessions.Step{Kind: sessions.Compact}
	for name, c := range map[string]struct {
		early, late []sessions.Step // before call 2, with 200 tokens each, and before call 3, with 100
		rereads     float64
	}{
		"recover":                    {early: []sessions.Step{recover}, rereads: 1321},
		"the file":                   {late: []sessions.Step{again}, rereads: 1186},
		"both":                       {early: []sessions.Step{recover}, late: []sessions.Step{again}, rereads: 1321 + 1186},
		"another id":                 {early: []sessions.Step{result("Bash", map[string]any{"command": "mcp-pruner recover prn_2"})}},
		"another file":               {late: []sessions.Step{result("Read", map[string]any{"file_path": "/r/b.go"})}},
		"an edit of the file":        {late: []sessions.Step{result("Edit", map[string]any{"file_path": "/r/a.go", "old_string": "a", "new_string": "b"})}},
		"the file, after compaction": {late: []sessions.Step{compact, again}},
	} {
		steps := paper()
		steps[1].ID = "r"
		carried := &Carried{billed(slices.Concat(steps[:3], c.early, steps[3:4], c.late, steps[4:]))}
		for i := range carried.b.results {
			carried.b.results[i].tokens = map[int]int{1: 1000, 2: 200, 3: 100}[carried.b.results[i].call]
		}
		_, rereads, ok := carried.Result("r", "prn_1")
		assert.True(t, ok)
		assert.InDelta(t, c.rereads, rereads, 1e-9, name)
	}
	b := billed(paper())
	b.results[0].tokens = 1000
	b.session.Steps[1].ID = "r"
	weight, rereads, ok := (&Carried{b}).Result("r", "prn_1")
	assert.Equal(t, []any{1.45, 0.0, true}, []any{math.Round(weight*100) / 100, rereads, ok})
	b.session.Steps[1].ID = ""
	_, _, ok = (&Carried{b}).Result("", "prn_1")
	assert.False(t, ok, "a result without a call's id is not found by an empty one")
}
