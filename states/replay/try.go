package replay

import (
	"context"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/history/sessions"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/learned"
	"github.com/mcp-pruner/mcp-pruner/states/existing"
)

// attempt is one result that was given to the pruner.
type attempt struct {
	result   int
	question string
	decision history.Decision
	lost     bool // nothing would lead the agent back to what is left out
	cut      existing.Cut
	body     existing.Body
	kept     int // tokens of the kept lines in the client's form
	header   int // tokens of header and markers
	err      error
}

// trial is a session with the pruner's cut of each result that one of the policies considers.
type trial struct {
	*sessions.Bill
	needs    [][]need
	attempts map[int]attempt // by result
	served   map[int]attempt // the same with the knowledge of this program's server; nil if no policy needs them
	with     Experiment
	reach    *history.Reach   // of the whole session; nil: not looked for yet
	weights  *learned.Weights // nil: the embedded weights
}

// Experiment changes what is tried, so that the worth of a part of the pruner can be measured. Its zero value changes
// nothing.
type Experiment struct {
	Only func(sessions.Session) bool // the sessions that count; nil: all

	Model string // of which each call is taken to be; "": of its own

	// Boldness is a factor for the price at which a line is kept: above 1, more is cut. 0 means 1.
	Boldness float64

	// Weights returns the weights of the ranking for a session, so that a session can be judged by weights
	// that were learned without it. nil: the embedded weights.
	Weights func(sessions.Session) *learned.Weights

	Decide func(*history.Decision, sessions.ResultCost)    // changes the decision whether to prune
	Know   func(*existing.Result)                          // changes what the pruner is told
	Cut    func(cut existing.Cut, result int) existing.Cut // changes what it cut

	// Asks reports whether a model writes a question for this program's tools. nil: it does unless it is careful, that
	// is, about to edit the file.
	Asks    func(r sessions.ResultCost, careful bool) bool
	Defined bool // count no definitions of this program's tools, as if they took the place of the client's

	Rule sessions.PrefixRule // by which the policy context chooses; zero: the standard one
}

// try runs the pruner over a session as the hook would have done and, if serve is set, as this program's server would.
func try(ctx context.Context, b *sessions.Bill, others history.OtherTools, serve bool, with Experiment) (*trial, error) {
	t := &trial{Bill: b, needs: NeedsOf(b), attempts: map[int]attempt{}, with: with}
	if serve {
		t.served = map[int]attempt{}
	}
	if with.Weights != nil {
		t.weights = with.Weights(b.Session)
	}
	err := Walk(b, others, func(index int, step sessions.Step, k Known) error { return t.result(ctx, index, step, k) })
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
	got := attempt{result: index, question: k.Question, decision: k.Decision, lost: k.Lost, body: k.Body}
	known := existing.Result{
		Call: r.Parsed, Args: step.Args, Body: got.body, Question: k.Question, Context: k.Context, Careful: got.decision.Careful, Said: k.Said, Prompt: k.Prompt, Own: k.Own,
		Noted: got.body.NumberedByClaude(), Weights: t.weights, Boldness: t.with.Boldness,
	}
	t.attempts[index] = t.prune(ctx, got, known)
	if t.attempts[index].cuts() {
		k.Cut()
	}
	if t.served != nil && ours(r.Kind) && t.asks(index) {
		known.Asked, known.Careful, known.Context, known.Own, known.Noted = true, false, k.Served, nil, false
		got.decision.Prune = got.decision.Prune && !k.Asked
		t.served[index] = t.prune(ctx, got, known)
		if t.served[index].cuts() {
			k.ServedCut()
		}
	}
	return ctx.Err()
}

// cuts reports whether the agent lacks a part of the result.
func (a attempt) cuts() bool { return a.decision.Prune && a.err == nil && !a.cut.Whole() }

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
		a.count(t.Bill, known.Noted)
	}
	return a
}

// count computes the tokens that a cut result would have sent.
func (a *attempt) count(b *sessions.Bill, noted bool) {
	a.kept = b.Tokens(a.body.Shown(a.cut.Kept))
	a.header = max(b.Tokens(existing.Sent(a.body, a.cut, noted, existing.ExampleWay))-a.kept, 0)
}

// asks reports whether the model sends a question with a call. Before it edits a file it sends none.
func (t *trial) asks(result int) bool {
	careful := t.attempts[result].decision.Careful
	if t.with.Asks != nil {
		return t.with.Asks(t.Results[result], careful)
	}
	return !careful
}
