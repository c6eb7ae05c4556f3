package replay

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/history/sessions"
	"github.com/mcp-pruner/mcp-pruner/states/existing"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
	"github.com/mcp-pruner/mcp-pruner/tools/tokens"
)

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
	tr := &trial{Bill: billed(steps), needs: make([][]need, len(tools)), attempts: map[int]attempt{}, served: map[int]attempt{}, reach: &history.Reach{Commands: true}}
	for i := range tools {
		tr.Results[i].Tokens = 1000
		tr.attempts[i] = attempt{result: i, question: "why", decision: history.Decision{Prune: true}, kept: 300, header: 20,
			cut: existing.Cut{Kept: []int{1}, Total: 3}, body: existing.Body{Lines: []string{"one", "two", "three"}, First: 1}}
		tr.served[i] = tr.attempts[i]
	}
	return tr
}

func TestWhatEachPolicyPrunes(t *testing.T) {
	for tool, want := range map[string][]Policy{
		"Read": {Hook, MCP, Proxy, Both}, "Bash": {Hook, MCP, Proxy, Both}, "Bash!": {Proxy}, "mcp__files__page": {Hook, Proxy, Both}, "mcp__files__page!": {Proxy},
		"WebFetch": {Proxy},
	} {
		tr := tried(tool)
		for _, p := range []Policy{Hook, MCP, Proxy, Both} {
			assert.Equal(t, slices.Contains(want, p), tr.prunes(p, tr.attempts[0]), "%s of %s", p, tool)
		}
		tr.Results[0].Call = 10 // beside clearing, text of files stays
		assert.Equal(t, slices.Contains(want, Both) && tool != "Read", tr.prunes(Both, tr.attempts[0]), "%s late", tool)
		assert.Equal(t, slices.Contains(want, Hook), tr.prunes(Hook, tr.attempts[0]), "%s late, alone", tool)
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
	tr.needs[0] = []need{{Line: 1, Step: 3, Rule: ruleEdit}}
	// Line 2 of the command's output stands in the file, too: it is missed only where the file is cut there as well, and
	// there once.
	tr.needs[1] = []need{{Line: 1, Step: 3, Rule: ruleEdit, Earlier: []needPlace{{Result: 0, Line: 1}}}}
	delete(tr.served, 0) // our server returns the file whole
	o := tr.judge(Hook)
	assert.InDeltaSlice(t, []float64{1750, 50, 0, 0}, []float64{o.Gross, o.Markers, o.Questions, o.Definitions}, 1e-9)
	assert.Equal(t, []int{2, 1}, []int{o.Pruned, o.Missed})

	o = tr.judge(MCP)
	q := float64(askTokens + tokens.Claude("why"))
	assert.InDeltaSlice(t, []float64{875, 25, 2 * q * (5 + 1.25), 760 * (1.25 + 0.1)}, []float64{o.Gross, o.Markers, o.Questions, o.Definitions}, 1e-9)
	assert.Equal(t, []int{1, 0}, []int{o.Pruned, o.Missed})
	assert.InDelta(t, o.Gross-o.Markers-o.Questions-o.Definitions, o.Net(2), 1e-9)

	tr.with.Asks = func(r sessions.ResultCost, careful bool) bool { return r.Kind != history.Bash && !careful }
	assert.Zero(t, tr.judge(MCP).Pruned, "nothing is asked of the command, so that nothing is cut")
	assert.Equal(t, 2, tr.judge(Hook).Pruned, "a hook needs no question")
}

// A step belongs to the last call that had begun.
func TestCallOfAStep(t *testing.T) {
	tr := &trial{Bill: billed(paper())} // calls at the steps 0, 2, 3 and 4
	for step, want := range map[int]int{0: 0, 1: 0, 2: 1, 3: 2, 4: 3, 9: 3} {
		assert.Equal(t, want, tr.callOf(step), "step %d", step)
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
		{"a model that asks all the same", "Read", func(tr *trial) {
			careful(tr)
			tr.with.Asks = func(sessions.ResultCost, bool) bool { return true }
		}, askTokens + tokens.Claude("why")},
		{"a tool that is not ours", "WebFetch", func(*trial) {}, 0},
		{"a command of which nothing is asked", "Bash", func(tr *trial) {
			tr.with.Asks = func(r sessions.ResultCost, _ bool) bool { return r.Kind != history.Bash }
		}, 0},
	} {
		tr, o := tried(c.tool), Outcome{}
		c.change(tr)
		tr.chargeServer(&o)
		assert.InDelta(t, float64(c.tokens)*(5+1.25), o.Questions, 1e-9, c.name)
	}
	tr, o := tried("Read"), Outcome{}
	tr.with.Defined = true
	tr.chargeServer(&o)
	assert.Zero(t, o.Definitions, "our tools take the place of the client's")
}

// clearsAt clears items before the calls with these numbers, from 1, and notes what it was shown.
type clearsAt struct {
	which map[int][]int
	shown []contextgc.Window
}

func (c *clearsAt) Decide(w contextgc.Window) contextgc.ClearingDecision {
	c.shown = append(c.shown, w)
	return contextgc.ClearingDecision{Clear: c.which[w.Call]}
}

// The session of paper with a result of 1,000 tokens, which is cleared before the third call; a stub has 30 tokens. Then the
// file is edited: the model would have had to read it again.
//
//	call  without                       with clearing
//	1     2010*1.25          = 2512.5   the same
//	2     2010*0.1+1000*1.25 = 1451     the same
//	3     3010*0.1           =  301     2010*0.1 + 30*1.25      =  238.5
//	      the file is edited            2040*0.1 + 150*5        =  954
//	4     3010*0.1           =  301     2040*0.1 + 1000*1.25    = 1454
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
		"an edit":               {edit, 954 + 1454, 954 + 1250},
		"a command that edits":  {command, 954 + 1454, 954 + 1250},
		"a command on another":  {other, 204, 0},
		"nothing":               {sessions.Step{Kind: sessions.Say}, 204, 0},
		"a compaction":          {sessions.Step{Kind: sessions.Compact}, 3210 * 1.25, 0},
		"words, and a new call": {sessions.Step{Kind: sessions.Say, Text: "well"}, 204 + 1.25*float64(tokens.Claude("well")), 0},
	} {
		by := &clearsAt{which: map[int][]int{3: {0}}}
		f := figuresOf(append(append(steps[:4:4], c.then), steps[4:]...))
		bill := f.tape(nil).Play(contextgc.DefaultPolicy(), by, false)
		assert.InDelta(t, 2512.5+1451+238.5+c.after, bill.After, 1e-9, name)
		assert.InDelta(t, c.reread, bill.Reread, 1e-9, name)
		assert.Equal(t, "/r/a.go", by.shown[1].Items[0].Path)
		if name == "nothing" {
			assert.InDelta(t, 2512.5+1451+301+301, bill.Before, 1e-9)
		}
	}
}

// figuresOf returns the figures of a session whose first result has 1,000 tokens.
func figuresOf(steps []sessions.Step) *Figures {
	f := &Figures{trial: &trial{Bill: billed(steps)}}
	f.Results[0].Tokens = 1000
	return f
}

// What a call did not read of the prompt before it, 3,010 tokens, the cache has lost, unless it is a small rest. Without usage it has lost nothing,
// and the system prompt of 4,000 tokens is what the transcript does not have.
func TestExpiryForClearingOnPaper(t *testing.T) {
	for read, expired := range map[int]bool{1505: false, 1504: true} {
		steps, by := paper(), &clearsAt{}
		steps[3].Usage = counted(10, 3100-read, read, 20)
		figuresOf(steps).tape(nil).Play(contextgc.DefaultPolicy(), by, false)
		assert.Equal(t, expired, by.shown[2].Cached < 1505, "call 3 read %d", read)
		assert.Zero(t, by.shown[0].Cached, "the first call has no cache")
	}
	steps, by := paper(), &clearsAt{}
	for i := range steps {
		steps[i].Usage = nil
	}
	figuresOf(steps).tape(nil).Play(contextgc.DefaultPolicy(), by, false)
	assert.Equal(t, []int{4000, 5000}, []int{by.shown[0].Tokens, by.shown[1].Tokens})
}

// What the transcript does not have of a context's first prompt, such as the system prompt, is the rest of its usage: with the
// user's words before it, and with a result of 1,000 tokens after a compaction, a prompt has the size that the API counted. Words
// that are larger than the prompt leave no rest.
func TestRestOfAPromptOnPaper(t *testing.T) {
	question := sessions.Step{Kind: sessions.User, Text: "why does it fail"}
	steps := append([]sessions.Step{question, {Kind: sessions.Compact}}, paper()[1:]...)
	by := &clearsAt{}
	figuresOf(steps).tape(nil).Play(contextgc.DefaultPolicy(), by, false)
	assert.Equal(t, 3010, by.shown[0].Tokens, "call 1 of paper is the first here")
	by = &clearsAt{}
	figuresOf(append([]sessions.Step{question}, paper()...)).tape(nil).Play(contextgc.DefaultPolicy(), by, false)
	assert.Equal(t, []int{2010, 3010}, []int{by.shown[0].Tokens, by.shown[1].Tokens})
	question.Text = strings.Repeat("why does it fail ", 2000)
	by = &clearsAt{}
	figuresOf(append([]sessions.Step{question}, paper()...)).tape(nil).Play(contextgc.DefaultPolicy(), by, false)
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
	f := &Figures{trial: &trial{Bill: sessions.NewBill(sessions.Session{Steps: steps}, sessions.Prices{Input: 1, CacheWrite: 2, CacheRead: 0.2, Output: 7})}}
	for i := range 30 {
		f.Results[i].Tokens = 5000
	}
	policy := contextgc.DefaultPolicy()
	policy.Prices = contextgc.Prices{Write: 2, Read: 0.2, Output: 7}
	ours, fixed := f.tape(nil).Play(policy, policy, false), f.tape(nil).Play(policy, contextgc.BestFixedRule(), false)
	assert.Negative(t, ours.Change())
	assert.Positive(t, ours.Reread)
	assert.NotEqual(t, ours.After, fixed.After)
	o := f.clear(nil)
	assert.Equal(t, cleared{input: ours.Before, change: ours.After - ours.Before, reread: ours.Reread, fixed: fixed.After - fixed.Before}, f.cleared)
	assert.InDelta(t, ours.Before-ours.After, o.Net(1), 1e-6)
	assert.InDelta(t, ours.Reread, o.Misses, 1e-6)
	// 30 calls write 4,000 and 29 times 5,000 tokens, and read 4,000 + 5,000 i tokens in call i + 2.
	assert.InDelta(t, 2*(4000+29*5000)+0.2*(29*4000+5000*28*29/2), ours.Before, 1e-6)
}

// A line of the cleared result is cited, not edited: it is read again at the same price as in TestClearingOnPaper. A line that
// the hook had cut before is the hook's miss, and an identifier counts by the wide rule alone. A result that the hook left with
// 320 tokens is cleared at that size: calls 2 and 3 are 680 tokens smaller.
func TestClearingIsChargedForAllNeeds(t *testing.T) {
	say := sessions.Step{Kind: sessions.Say}
	steps := append(append(paper()[:4:4], say), paper()[4:]...)
	hook := &Outcome{rows: []row{{a: attempt{kept: 300, header: 20, cut: existing.Cut{Kept: []int{1}, Total: 3}}}}}
	for name, c := range map[string]struct {
		need          need
		after         *Outcome
		wide          bool
		reread, total float64
	}{
		"a citation":                 {need{Step: 4, Rule: ruleCite}, nil, false, 954 + 1250, 2512.5 + 1451 + 238.5 + 954 + 1454},
		"a name by the strict rule":  {need{Step: 4, Rule: RuleWide}, nil, false, 0, 2512.5 + 1451 + 238.5 + 204},
		"a name by the wide rule":    {need{Step: 4, Rule: RuleWide}, nil, true, 954 + 1250, 2512.5 + 1451 + 238.5 + 954 + 1454},
		"a line that the hook left":  {need{Step: 4, Rule: ruleCite}, hook, false, 954 + 400, 2512.5 + 601 + 238.5 + 954 + 604},
		"a line that the hook cut":   {need{Line: 1, Step: 4, Rule: ruleCite}, hook, false, 0, 2512.5 + 601 + 238.5 + 204},
		"another place is gone, too": {need{Step: 4, Rule: ruleCite, Earlier: []needPlace{{Result: 0, Line: 2}}}, nil, false, 954 + 1250, 2512.5 + 1451 + 238.5 + 954 + 1454},
	} {
		f := figuresOf(steps)
		f.needs = [][]need{{c.need}}
		b := f.tape(c.after).Play(contextgc.DefaultPolicy(), &clearsAt{which: map[int][]int{3: {0}}}, c.wide)
		assert.InDelta(t, c.total, b.After, 1e-9, name)
		assert.InDelta(t, c.reread, b.Reread, 1e-9, name)
	}
}
