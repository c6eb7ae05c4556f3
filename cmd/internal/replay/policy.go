package replay

import (
	"strings"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history"
	"github.com/mcp-pruner/mcp-pruner/states/existing"
	"github.com/mcp-pruner/mcp-pruner/tools/tokens"
)

// Policy is the place between tool and model at which the pruner is assumed to work.
type Policy string

// The policies.
const (
	Hook  Policy = "hook"  // the client's own tools, pruned by its hook
	MCP   Policy = "mcp"   // this program's read, bash and grep in addition to the client's
	Proxy Policy = "proxy" // between client and model: any tool, including failed commands
	GC    Policy = "gc"    // old results cleared by the planner
)

// Tokens that the policies add.
const (
	definitionTokens = 760 // the tool list and instructions of this program's server, as the model sees them
	askTokens        = 8   // the name and quotes of context_focus_question
	maxAskTokens     = 40  // limit for the length of a question that a model writes
	turnTokens       = 150 // output of one further turn
)

// Asking says on which calls of this program's tools a model writes a question. It never does when it opens
// a narrow range or is about to edit the file.
type Asking string

// The habits of asking.
const (
	AsksAlways   Asking = ""                         // on every call
	AsksSearches Asking = "reads and searches"       // not on commands
	AsksWell     Asking = "where the result is long" // it guesses right which results are
)

// Outcome is the effect that a policy would have had on one session, in fresh input tokens.
type Outcome struct {
	Gross       float64 // price of the tokens that were cut
	Markers     float64 // price of headers and markers
	Questions   float64
	Definitions float64
	Misses      float64 // price of all misses, each counted once

	Pruned, Missed int
	rows           []row
	asked          []questionCost // for each question
	defined        []float64      // for each context, the weight of the definitions
}

// questionCost is the cost of one question: output, and input from then on.
type questionCost struct {
	step, tokens int
	weight       float64
}

// row is one pruned result of an outcome.
type row struct {
	a     attempt
	r     result
	saved float64
	added float64
	miss  float64
	need  need
	again int // tokens fetched again
	ok    bool

	context int     // tokens of the context at the time of a miss
	then    float64 // weight of a token that enters the prompt at that time
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
	asked := func(i int) bool { return p != MCP || t.asks(t.results[i]) }
	chosen := map[int]map[int]bool{} // by result, its kept lines
	for i, a := range attempts {
		if t.prunes(p, a) && asked(i) {
			chosen[i] = lineSet(a.cut)
		}
	}
	cut := func(result, line int) bool {
		kept, pruned := chosen[result]
		return pruned && !kept[line]
	}
	for i := range t.results {
		if chosen[i] != nil {
			o.add(t.row(attempts[i], cut))
		}
	}
	if p == MCP {
		t.chargeServer(&o)
	}
	return o
}

// prunes reports whether a policy would have pruned a result.
func (t *trial) prunes(p Policy, a attempt) bool {
	r := t.results[a.result]
	step := t.session.Steps[r.step]
	switch {
	case a.err != nil || !a.decision.Prune || a.cut.Whole():
		return false
	case p == Proxy:
		return true
	case p == Hook && strings.HasPrefix(step.Tool, "mcp__"):
		return !step.Err
	}
	return r.kind != history.Other && !step.Err
}

func lineSet(c existing.Cut) map[int]bool {
	set := make(map[int]bool, len(c.Kept))
	for _, n := range c.Kept {
		set[n-1] = true
	}
	return set
}

func (t *trial) row(a attempt, cut func(result, line int) bool) row {
	r := t.results[a.result]
	out := row{a: a, r: r, saved: float64(r.tokens-a.kept) * r.weight, added: float64(a.header) * r.weight}
	out.need, out.again, out.ok = t.missed(a, cut)
	if out.ok {
		out.context, out.then = t.turnBefore(out.need.step)
		out.miss = float64(out.context)*t.prices.CacheRead + turnTokens*t.prices.Output + float64(out.again)*out.then
	}
	return out
}

// turnBefore returns what one further turn before a step would cost: the tokens of the context, which are
// read from the cache once more, and the weight of what enters the prompt there. The lines that a miss
// fetches again stay in it from then on.
func (t *trial) turnBefore(step int) (context int, weight float64) {
	at := 0
	for at < len(t.calls)-1 && t.calls[at+1].step <= step {
		at++
	}
	return t.calls[at].prompt, t.weightFrom(at)
}

func (o *Outcome) add(r row) {
	o.rows = append(o.rows, r)
	o.Pruned++
	o.Gross += r.saved
	o.Markers += r.added
	if r.ok {
		o.Missed++
		o.Misses += r.miss
	}
}

// chargeServer adds the cost of an MCP server's tools: their definitions in every prompt, and a question
// with every call that may be worth one.
func (t *trial) chargeServer(o *Outcome) {
	first := true
	for i, call := range t.calls {
		if !t.defined && (first || t.calls[i-1].context != call.context) {
			o.defined = append(o.defined, t.weightFrom(i))
			o.Definitions += definitionTokens * t.weightFrom(i)
			first = false
		}
	}
	for i, r := range t.results {
		a, pruned := t.attempts[i]
		if !ours(r.kind) || !t.asks(r) || r.parsed.Narrow(history.NarrowLines) || pruned && !t.asksOf(a) {
			continue
		}
		q := questionCost{r.step, askTokens + min(maxAskTokens, t.questionTokens(i)), r.weight}
		o.asked = append(o.asked, q)
		o.Questions += float64(q.tokens) * (t.prices.Output + q.weight)
	}
}

// asks reports whether a model of this habit writes a question with a call.
func (t *trial) asks(r result) bool {
	switch t.asking {
	case AsksSearches:
		return r.kind != history.Bash
	case AsksWell:
		return r.tokens >= history.MinTokens
	}
	return true
}

// questionTokens returns the assumed length of the question that a model would have written.
func (t *trial) questionTokens(result int) int {
	if a, ok := t.attempts[result]; ok {
		return tokens.Claude(a.question)
	}
	return maxAskTokens / 2
}

// toolOf returns the name of a result's tool in the transcript.
func (t *trial) toolOf(r result) string { return t.session.Steps[r.step].Tool }
