package replay

import (
	"context"
	"slices"

	"github.com/mcp-pruner/mcp-pruner/pruneclient"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/history"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/history/sessions"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/learned"
	"github.com/mcp-pruner/mcp-pruner/states/existing"
	"github.com/mcp-pruner/mcp-pruner/tools/tokens"
)

// asked is the knowledge in a session at the time of a call.
type asked struct {
	question string
	context  []pruneclient.Event // for a pruner that sees the whole session
	served   []pruneclient.Event // for this program's server, which sees only its own calls and their questions
	decision history.Decision
	body     existing.Body
}

// attempt is one result that was given to the pruner.
type attempt struct {
	result   int
	question string
	decision history.Decision
	cut      existing.Cut
	body     existing.Body
	kept     int // tokens of the kept lines in the client's form
	header   int // tokens of header and markers
	err      error
}

// trial is a session with the pruner's cut of each result that one of the policies considers.
type trial struct {
	*bill
	needs    [][]need
	attempts map[int]attempt // by result
	served   map[int]attempt // the same with the knowledge of this program's server; nil if no policy needs them
	without  Ablation
	weights  *learned.Weights // nil: the embedded weights
	boldness float64
	asking   Asking
	defined  bool // the server's definitions cost nothing
}

// walk calls each for every result, with the knowledge at the time of the call.
func (b *bill) walk(others history.OtherTools, each func(index int, step sessions.Step, a asked) error) error {
	var log, served history.Log
	open := map[string]asked{}
	outs := b.outs()
	next := 0
	ask := func(call history.Call, out string) asked {
		known := existing.Result{Call: call, Body: existing.NewBody(call.Kind, out)}
		decision := known.Know(&log, others)
		return asked{question: known.Question, context: known.Context, decision: decision, body: known.Body}
	}
	for _, step := range b.session.Steps {
		switch step.Kind {
		case sessions.Use:
			if list := outs[step.ID]; len(list) > 0 {
				open[step.ID], outs[step.ID] = ask(history.ParseCall(step.Tool, step.Args), list[0]), list[1:]
			}
		case sessions.Result:
			r := &b.results[next]
			a, ok := open[step.ID]
			if !ok { // from the flattened transcript of a sub-agent
				a = ask(r.parsed, step.Out)
			}
			a.served = served.Context()
			if err := each(next, step, a); err != nil {
				return err
			}
			if ours(r.kind) {
				served.Served(r.parsed, a.question, step.Out)
			}
			next++
		}
		step.AddTo(&log)
	}
	return nil
}

// outs returns the outputs of the calls with an id, in order.
func (b *bill) outs() map[string][]string {
	outs := map[string][]string{}
	for _, step := range b.session.Steps {
		if step.Kind == sessions.Result {
			outs[step.ID] = append(outs[step.ID], step.Out)
		}
	}
	return outs
}

// try runs the pruner over a session as the hook would have done.
func try(ctx context.Context, b *bill, s Settings) (*trial, error) {
	t := &trial{bill: b, needs: b.gold(), attempts: map[int]attempt{}, without: s.Without, boldness: s.Boldness, asking: s.Asking, defined: s.Defined}
	if slices.Contains(s.Policies, MCP) {
		t.served = map[int]attempt{}
	}
	if s.Weights != nil {
		t.weights = s.Weights(b.session.ID)
	}
	err := b.walk(s.Others, func(index int, step sessions.Step, a asked) error { return t.result(ctx, index, step, a) })
	return t, err
}

func (t *trial) result(ctx context.Context, index int, step sessions.Step, a asked) error {
	r := &t.results[index]
	if r.tokens < history.MinTokens/2 || r.weight == 0 || !prunable(r.kind) {
		return nil
	}
	got := attempt{result: index, question: a.question, decision: a.decision, body: a.body}
	t.ablate(&got, &a, r)
	known := existing.Result{
		Call: r.parsed, Args: step.Args, Body: got.body, Question: a.question, Context: a.context, Careful: got.decision.Careful,
		Noted: got.body.NumberedByClaude(), Rules: t.without == Learning, Weights: t.weights, Boldness: t.boldness,
	}
	t.attempts[index] = t.prune(ctx, got, known)
	if t.served != nil && ours(r.kind) && t.asksOf(got) {
		known.Asked, known.Careful, known.Context, known.Noted = true, false, a.served, false
		if t.without == Context {
			known.Context = nil
		}
		t.served[index] = t.prune(ctx, got, known)
	}
	return ctx.Err()
}

// asksOf reports whether a model would write a question for a result. It does not when it is about to edit
// the file.
func (t *trial) asksOf(a attempt) bool { return !a.decision.Careful || t.without == Decision }

// ours reports whether this program's server has a tool of that kind.
func ours(kind history.Kind) bool {
	return kind == history.Read || kind == history.Grep || kind == history.Bash
}

// prune prunes a result if the decision is to prune it.
func (t *trial) prune(ctx context.Context, a attempt, known existing.Result) attempt {
	if a.decision.Prune {
		a.cut, a.err = existing.Prune(ctx, known)
	}
	if t.without == Relevance {
		a.cut = shuffled(a.cut, a.result)
	}
	if a.err == nil && !a.cut.Whole() {
		a.count(known.Noted)
	}
	return a
}

func prunable(kind history.Kind) bool {
	return kind == history.Read || kind == history.Grep || kind == history.Bash || kind == history.Other
}

// count computes the tokens that a cut result would have sent.
func (a *attempt) count(noted bool) {
	a.kept = tokens.Claude(a.body.Shown(a.cut.Kept))
	sent := existing.Text(a.body, a.cut, existing.ExampleWay)
	if noted {
		sent = existing.ClaudeRead(a.body, a.cut, existing.ExampleWay)
	}
	a.header = max(tokens.Claude(sent)-a.kept, 0)
}

// missed returns the first need that a cut leaves out, and the tokens of all gaps that contain needs.
func (t *trial) missed(a attempt, cutHere func(result, line int) bool) (first need, tokens int, ok bool) {
	gaps := map[int]bool{}
	for _, n := range t.needs[a.result] {
		if !cutHere(a.result, n.line) || !allCut(n.earlier, cutHere) {
			continue
		}
		gaps[t.gapOf(a, n.line)] = true
		if !ok || n.step < first.step {
			first, ok = n, true
		}
	}
	for start := range gaps {
		tokens += t.gapTokens(a, start)
	}
	return first, min(tokens, t.results[a.result].tokens), ok
}

func allCut(places []place, cut func(result, line int) bool) bool {
	for _, p := range places {
		if !cut(p.result, p.line) {
			return false
		}
	}
	return true
}

// gapOf returns the first line (0-based) of the gap that contains a line.
func (t *trial) gapOf(a attempt, line int) int {
	start := 0
	for _, n := range a.cut.Kept {
		if n-1 > line {
			break
		}
		start = n
	}
	return start
}

func (t *trial) gapTokens(a attempt, start int) int {
	end := len(a.body.Lines)
	for _, n := range a.cut.Kept {
		if n-1 >= start {
			end = n - 1
			break
		}
	}
	gap := make([]int, 0, end-start)
	for n := start + 1; n <= end; n++ {
		gap = append(gap, n)
	}
	return tokens.Claude(a.body.Shown(gap))
}
