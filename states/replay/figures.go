package replay

import (
	"slices"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/history/sessions"
)

// Figures are the results of one session.
type Figures struct {
	*trial
	outcomes map[Policy]Outcome
	cleared  cleared
	contents map[string]sessions.SplitPrice

	prefixTokens int
	facts        prefixFacts

	aside bool // the session has no part in the report

	large, needed int // results that are large enough to be cut, and those of which a line was needed later
}

// cleared is the effect that the policy gc would have had on one session, beside its outcome.
type cleared struct {
	input  float64 // price of all prompts as they were
	change float64 // change of that price by clearing; negative is good
	reread float64 // the part of change for results that were cleared and needed later
	fixed  float64 // change with the best fixed rule
}

// prefixFacts are the facts about a session that the policy context needs. They are kept for every session of a project.
type prefixFacts struct {
	sessions.Facts
	parts  []standing
	called []calledPart

	listed  float64 // price of the parts that the transcript lists
	earlier int     // sessions of the project before this one
}

// standing is a part of the fixed prefix whose size is known.
type standing struct {
	sessions.Part
	price float64 // over the session
	gone  bool
}

// calledPart is a part that a session called, at the model call with an index.
type calledPart struct {
	sessions.Part
	call int
}

// Outcome returns the effect of a policy on the session.
func (f *Figures) Outcome(p Policy) Outcome { return f.outcomes[p] }

// refused returns why nothing can be said of the session; "" if something can.
func (f *Figures) refused() string {
	why := f.Refused()
	for _, o := range f.outcomes {
		if why == "" && o.Gross > f.Total && f.Total > 0 {
			why = "more than it cost would have been saved"
		}
	}
	return why
}

// countNeeds counts the results that are large enough to be cut, and those that a later step needed.
func (f *Figures) countNeeds() {
	for i, r := range f.Results {
		if !prunable(r.Kind) || r.Tokens < history.MinTokens || r.Weight == 0 {
			continue
		}
		f.large++
		if slices.ContainsFunc(f.needs[i], func(n need) bool { return n.Rule != RuleWide }) {
			f.needed++
		}
	}
}

// slim drops the texts of a session that are no longer needed, because a large history would not fit into
// memory.
func (f *Figures) slim(keep bool) {
	if keep {
		return
	}
	for i := range f.Session.Steps {
		step := &f.Session.Steps[i]
		step.Text, step.Think, step.Out, step.Args = "", "", "", nil
	}
	f.attempts, f.served, f.needs = nil, nil, nil
	for i := range f.Results {
		f.Results[i].Parsed.Command, f.Results[i].Parsed.Replace = "", nil
	}
	for _, o := range f.outcomes {
		for i := range o.rows {
			o.rows[i].a.body.Lines, o.rows[i].a.cut.Kept = nil, nil
			o.rows[i].r.Parsed.Replace = nil
		}
	}
}
