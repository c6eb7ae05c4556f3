package replay

import (
	"github.com/mcp-pruner/mcp-pruner/pruneclient/history"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/history/sessions"
	"github.com/mcp-pruner/mcp-pruner/states/existing"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
)

// Policy is the place between tool and model at which the pruner is assumed to work.
type Policy string

const (
	Hook  Policy = "hook"  // the client's own tools, pruned by its hook
	MCP   Policy = "mcp"   // this program's read, bash and grep in addition to the client's
	Proxy Policy = "proxy" // between client and model: any tool, including failed commands
	GC    Policy = "gc"    // old results cleared by the planner

	Context Policy = "context" // without what a project's earlier sessions did not use of the fixed prefix

	Both Policy = "hook+gc"
	All  Policy = "all" // hook, gc and context together
)

// Tokens that the policies add.
const (
	definitionTokens = 760 // the tool list and instructions of this program's server, as the model sees them
	askTokens        = 8   // the name and quotes of context_focus_question
	maxAskTokens     = 40  // limit for the length of a question that a model writes
)

// Outcome is the effect that a policy would have had on one session, in fresh input tokens.
type Outcome struct {
	Gross       float64 // price of the tokens that were cut
	Markers     float64 // price of headers and markers
	Questions   float64
	Definitions float64
	Misses      float64 // price of all misses, each counted once
	Wide        float64 // the same where every identifier counts that stands only in cut lines

	Pruned, Missed int // results
	Turns          int // model calls that lacked something
	rows           []row
	missed         []miss
	clearing       contextgc.ClearingBill // of policy gc
	parts          []Outcome              // of a combination
	gone           int                    // of policy context: tokens that the prefix lacks
	hurt           bool                   // of policy context: the session called what was switched off
	again          int                    // tokens of the prompt that is then sent again
	asked          []questionCost         // for each question
	defined        []float64              // for each context, the weight of the definitions
}

// questionCost is the cost of one question: output, and input from then on.
type questionCost struct {
	step, tokens int
	weight       float64
}

// row is one pruned result of an outcome.
type row struct {
	a      attempt
	r      sessions.ResultCost
	saved  float64
	added  float64
	missed bool
	miss   float64
}

// Net returns the saving if every miss is counted the given number of times.
func (o Outcome) Net(times float64) float64 {
	return o.Gross - o.Markers - o.Questions - o.Definitions - times*o.Misses
}

// judge computes a policy's outcome.
func (t *trial) judge(p Policy) Outcome {
	var o Outcome
	attempts := t.attempts
	if p == MCP {
		attempts = t.served
	}
	chosen := map[int]map[int]bool{} // by result, its kept lines
	for i, a := range attempts {
		if t.prunes(p, a) && (p != MCP || t.asks(i)) {
			chosen[i] = lineSet(a.cut)
		}
	}
	cut := func(result, line int) bool {
		kept, pruned := chosen[result]
		return pruned && !kept[line]
	}
	o.missed = t.misses(attempts, cut, false)
	for _, m := range t.misses(attempts, cut, true) {
		o.Wide += m.cost
	}
	for i := range t.Results {
		if chosen[i] != nil {
			o.add(t.row(attempts[i], o.missed))
		}
	}
	for _, m := range o.missed {
		if m.context > 0 {
			o.Turns++
		}
	}
	if p == MCP {
		t.chargeServer(&o)
	}
	return o
}

// prunes reports whether a policy would have pruned a result.
func (t *trial) prunes(p Policy, a attempt) bool {
	r := t.Results[a.result]
	step := t.Session.Steps[r.Step]
	switch {
	case a.err != nil || !a.decision.Prune || a.cut.Whole():
		return false
	case p == Proxy:
		return t.reaches().Leads(r.Parsed)
	case p == MCP:
		return ours(r.Kind) && !step.Err
	case a.lost || t.tooLong(a) || p == Both && r.Parsed.LeftToClearing(r.Call):
		return false
	case r.Kind == history.Other:
		return !step.Err && agent.HooksReplace(step.Tool)
	}
	return r.Kind != history.Other && !step.Err
}

// tooLong reports whether what a cut leaves is longer than what the client's hook can put in the place of a result.
func (t *trial) tooLong(a attempt) bool {
	h := agent.Named(t.Session.Source).Hooks
	return h != nil && h.Longest > 0 && len(existing.Text(a.body, a.cut, existing.ExampleWay)) > h.Longest
}

func lineSet(c existing.Cut) map[int]bool {
	set := make(map[int]bool, len(c.Kept))
	for _, n := range c.Kept {
		set[n-1] = true
	}
	return set
}

// row returns what became of a pruned result.
func (t *trial) row(a attempt, missed []miss) row {
	r := t.Results[a.result]
	out := row{a: a, r: r, saved: float64(r.Tokens-a.kept) * r.Weight, added: float64(a.header) * r.Weight}
	for _, m := range missed {
		if m.result == a.result {
			out.missed = true
			out.miss += m.cost
		}
	}
	return out
}

func (o *Outcome) add(r row) {
	o.rows = append(o.rows, r)
	o.Pruned++
	o.Gross += r.saved
	o.Markers += r.added
	o.Misses += r.miss
	if r.missed {
		o.Missed++
	}
}

// chargeServer adds the cost of an MCP server's tools: their definitions in every prompt, and a question
// with every call that may be worth one.
func (t *trial) chargeServer(o *Outcome) {
	first := true
	for i, call := range t.Calls {
		if !t.with.Defined && (first || t.Calls[i-1].Context != call.Context) {
			o.defined = append(o.defined, t.WeightFrom(i))
			o.Definitions += definitionTokens * t.WeightFrom(i)
			first = false
		}
	}
	for i, r := range t.Results {
		if !ours(r.Kind) || !t.asks(i) || r.Parsed.Narrow(history.NarrowLines) {
			continue
		}
		q := questionCost{r.Step, askTokens + min(maxAskTokens, t.questionTokens(i)), r.Weight}
		o.asked = append(o.asked, q)
		o.Questions += float64(q.tokens) * (t.Prices.Output + q.weight)
	}
}

// questionTokens returns the assumed length of the question that a model would have written.
func (t *trial) questionTokens(result int) int {
	if a, ok := t.attempts[result]; ok {
		return t.Tokens(a.question)
	}
	return maxAskTokens / 2
}

// toolOf returns the name of a result's tool in the transcript.
func (t *trial) toolOf(r sessions.ResultCost) string { return t.Session.Steps[r.Step].Tool }
