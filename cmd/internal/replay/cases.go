package replay

import (
	"context"

	"github.com/mcp-pruner/mcp-pruner/pruneclient"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/history"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/history/sessions"
)

// Case is one result of a session as training data: the information at the time of the call, and the lines
// that were used later.
type Case struct {
	Step      int
	Call      history.Call
	Args      map[string]any
	Question  string
	Context   []pruneclient.Event // most recent first
	Served    []pruneclient.Event // what this program's server would know: its own calls and their questions, without messages and edits
	Text      string              // without line numbers
	FirstLine int                 // number of the text's first line in its file
	Tokens    int
	Weight    float64 // price of one of its tokens in the session
	Decision  history.Decision
	Gold      []int // 1-based lines that were used later; empty: no use could be shown
}

// Cases calls each for every result of read, bash and grep with at least 60 lines or 4,000 bytes. Lines
// that the context had shown before are not gold.
func Cases(ctx context.Context, s sessions.Session, each func(Case) error) error {
	b := newBill(s, DefaultPrices)
	needs := b.gold()
	return b.walk(nil, func(index int, step sessions.Step, a asked) error {
		r := b.results[index]
		body := a.body
		if r.kind == history.Other || !prunable(r.kind) || len(body.Lines) < 60 && len(step.Out) < 4000 {
			return ctx.Err()
		}
		c := Case{
			Step: r.step, Call: r.parsed, Args: step.Args, Question: a.question, Context: a.context, Served: a.served, Text: body.Code(),
			FirstLine: body.First, Tokens: r.tokens, Weight: r.weight, Decision: a.decision,
		}
		for _, n := range needs[index] {
			if len(n.earlier) == 0 {
				c.Gold = append(c.Gold, n.line+1)
			}
		}
		return each(c)
	})
}
