package replay

import (
	"context"
	"slices"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/history/bill"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/history/sessions"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/learned"
	"github.com/mcp-pruner/mcp-pruner/states/existing"
	"github.com/mcp-pruner/mcp-pruner/states/replay/needs"
	"github.com/mcp-pruner/mcp-pruner/tools/tokens"
)

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
	*bill.Bill
	needs    [][]needs.Need
	attempts map[int]attempt // by result
	served   map[int]attempt // the same with the knowledge of this program's server; nil if no policy needs them
	with     Experiment
	weights  *learned.Weights // nil: the embedded weights
}

// try runs the pruner over a session as the hook would have done.
func try(ctx context.Context, b *bill.Bill, s Settings) (*trial, error) {
	t := &trial{Bill: b, needs: needs.Of(b), attempts: map[int]attempt{}, with: s.Experiment}
	if slices.Contains(s.Policies, MCP) {
		t.served = map[int]attempt{}
	}
	if s.Weights != nil {
		t.weights = s.Weights(b.Session)
	}
	err := Walk(b, s.Others, func(index int, step sessions.Step, k Known) error { return t.result(ctx, index, step, k) })
	return t, err
}

func (t *trial) result(ctx context.Context, index int, step sessions.Step, k Known) error {
	r := &t.Results[index]
	if r.Tokens < history.MinTokens/2 || r.Weight == 0 || !prunable(r.Kind) {
		return nil
	}
	if t.with.Decide != nil {
		t.with.Decide(&k.Decision, *r)
	}
	got := attempt{result: index, question: k.Question, decision: k.Decision, body: k.Body}
	known := existing.Result{
		Call: r.Parsed, Args: step.Args, Body: got.body, Question: k.Question, Context: k.Context, Careful: got.decision.Careful,
		Noted: got.body.NumberedByClaude(), Weights: t.weights, Boldness: t.with.Boldness,
	}
	t.attempts[index] = t.prune(ctx, got, known)
	if t.served != nil && ours(r.Kind) && t.asks(index) {
		known.Asked, known.Careful, known.Context, known.Noted = true, false, k.Served, false
		t.served[index] = t.prune(ctx, got, known)
	}
	return ctx.Err()
}

// prune prunes a result if the decision is to prune it.
func (t *trial) prune(ctx context.Context, a attempt, known existing.Result) attempt {
	if t.with.Know != nil {
		t.with.Know(&known)
	}
	if a.decision.Prune {
		a.cut, a.err = existing.Prune(ctx, known)
	}
	if t.with.Cut != nil {
		a.cut = t.with.Cut(a.cut, a.result)
	}
	if a.err == nil && !a.cut.Whole() {
		a.count(known.Noted)
	}
	return a
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
