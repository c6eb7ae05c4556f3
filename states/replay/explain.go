package replay

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/history/sessions"
)

// Explain writes out one session so that every figure can be verified by hand.
func (f *Figures) Explain(w io.Writer, policies []Policy) error {
	var b strings.Builder
	fmt.Fprintf(&b, "session %s (%s, %s)\n\n", f.Session.ID, f.Session.Source, measuredBy(f.Measured))
	f.explainBill(&b)
	f.explainResults(&b)
	for _, p := range policies {
		f.explainOutcome(&b, p)
		f.explainNet(&b, f.outcomes[p])
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// explainOutcome prints the terms of a policy.
func (f *Figures) explainOutcome(b *strings.Builder, p Policy) {
	o := f.outcomes[p]
	switch p {
	case GC:
		b.WriteString("\npolicy gc: what the planner clears from modelled prompts\n")
		f.explainClearing(b, o)
	case Context:
		f.explainContext(b, o)
	case Both:
		fmt.Fprintf(b, "\npolicy %s: net %.1f of the hook, and from what it left\n", p, o.parts[0].Net(1))
		f.explainClearing(b, o.parts[1])
	case All:
		both, context := o.parts[0], o.parts[1]
		fmt.Fprintf(b, "\npolicy %s: net %.1f of %s + net %.1f of context + %d turns x %d tokens of the prefix that they do not read x %g\n",
			p, both.Net(1), Both, context.Net(1), both.Turns, context.gone, f.Prices.CacheRead)
	default:
		f.explainPolicy(b, p, o)
	}
}

// explainContext prints what went from the fixed prefix.
func (f *Figures) explainContext(b *strings.Builder, o Outcome) {
	fmt.Fprintf(b, "\npolicy %s: parts of the fixed prefix that no earlier session of the project used\n", Context)
	w := tabwriter.NewWriter(b, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "kind\tname\ttokens\tprice")
	for _, p := range f.facts.parts {
		if p.gone {
			fmt.Fprintf(w, "%s\t%s\t%d\t%.1f\n", p.Kind, p.Name, p.Tokens, p.price)
		}
	}
	_ = w.Flush() // writes to memory
	if o.hurt {
		fmt.Fprintf(b, "%d parts were called that had gone: one turn, and %d tokens written again, cost %.1f\n", o.Missed, o.again, o.Misses)
	}
}

// measuredBy returns the source of a bill's usage.
func measuredBy(measured bool) string {
	if measured {
		return "usage as the API counted it"
	}
	return "usage modelled from the texts"
}

func (f *Figures) explainBill(b *strings.Builder) {
	var u sessions.Usage
	contexts := 1
	for i, c := range f.Calls {
		u.Input += c.Usage.Input
		u.CacheWrite += c.Usage.CacheWrite
		u.CacheRead += c.Usage.CacheRead
		u.Output += c.Usage.Output
		u.Hour += c.Usage.Hour
		if i > 0 && c.Context != f.Calls[i-1].Context {
			contexts++
		}
	}
	p := f.Prices
	fmt.Fprintf(b, "%d model calls in %d contexts. Bill = %d x %g + %d x %g + %d x %g + %d x %g = %.1f\n",
		len(f.Calls), contexts, u.Input, p.Input, u.CacheWrite, p.CacheWrite, u.CacheRead, p.CacheRead, u.Output, p.Output, f.Total)
	b.WriteString("            (input, cache write, cache read, output tokens, each times its price)\n")
	if u.Hour > 0 {
		fmt.Fprintf(b, "            (and %d x %g more for what was written for an hour)\n", u.Hour, p.CacheHour-p.CacheWrite)
	}
	if f.Guessed > 0 {
		fmt.Fprintf(b, "            (of %d calls the transcript has a placeholder for the output; it is modelled from the texts)\n", f.Guessed)
	}
	b.WriteByte('\n')
}

// explainResults lists the results that count and the cost of carrying one token of each: weight = one
// cache write + cache reads + further cache writes.
func (f *Figures) explainResults(b *strings.Builder) {
	fmt.Fprintf(b, "Results of %d tokens and more. price = tokens x weight; weight = writes x %g + reads x %g\n",
		history.MinTokens/2, f.Prices.CacheWrite, f.Prices.CacheRead)
	w := tabwriter.NewWriter(b, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "step\ttool\tfirst in call\twrites\treads\tweight\ttokens\tprice\tdecision\tabout")
	for i, r := range f.Results {
		if r.Tokens < history.MinTokens/2 {
			continue
		}
		writes, reads := f.countWeight(r.Call)
		fmt.Fprintf(w, "%d\t%s\t%d\t%d\t%d\t%.2f\t%d\t%.1f\t%s\t%s\n", r.Step, f.toolOf(r), r.Call+1, writes, reads,
			r.Weight, r.Tokens, float64(r.Tokens)*r.Weight, f.decided(i), about(r.Parsed))
	}
	_ = w.Flush() // writes to memory
}

func (f *Figures) countWeight(from int) (writes, reads int) {
	if from >= len(f.Calls) {
		return 0, 0
	}
	writes = 1
	for j := from + 1; j < len(f.Calls) && f.Calls[j].Context == f.Calls[from].Context; j++ {
		if f.Cached(from, j) {
			reads++
		} else {
			writes++
		}
	}
	return writes, reads
}

// decided returns a description of the decision on a result.
func (f *Figures) decided(i int) string {
	a, ok := f.attempts[i]
	switch {
	case !ok:
		return "not looked at"
	case a.err != nil:
		return "pruner: " + a.err.Error()
	case !a.decision.Prune:
		return a.decision.Why
	case a.cut.Whole():
		return "the pruner kept all"
	}
	return fmt.Sprintf("cut to %d of %d lines", len(a.cut.Kept), a.cut.Total)
}

func about(c history.ToolCall) string {
	text := strings.Join(strings.Fields(strings.Join([]string{c.File, c.Command, c.Pattern}, " ")), " ")
	if runes := []rune(text); len(runes) > 60 {
		return string(runes[:57]) + "..."
	}
	return text
}

// explainClearing prints the terms of the planner's outcome.
func (f *Figures) explainClearing(b *strings.Builder, o Outcome) {
	c := o.clearing
	fmt.Fprintf(b, "prompts %.1f - with %d results cleared at %d times %.1f = %.1f net, in which %d model calls read %.1f again\n",
		c.Before, c.Cleared, c.Clearings, c.After, c.Before-c.After, c.Turns, c.Reread)
}

func (f *Figures) explainPolicy(b *strings.Builder, p Policy, o Outcome) {
	fmt.Fprintf(b, "\npolicy %s: gross = (tokens - kept) x weight, markers = header x weight\n"+
		"            (header: the tokens beyond those of the kept lines, 0 where the client's form saves as many)\n", p)
	w := tabwriter.NewWriter(b, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "step\ttokens\tkept\theader\tgross\tmarkers\tits misses")
	for _, r := range o.rows {
		fmt.Fprintf(w, "%d\t%d\t%d\t%d\t%.1f\t%.1f\t%.1f\n", r.r.Step, r.r.Tokens, r.a.kept, r.a.header, r.saved, r.added, r.miss)
	}
	_ = w.Flush() // writes to memory
	f.explainMisses(b, o.missed)
	f.explainServer(b, o)
}

// explainNet prints the sum of an outcome.
func (f *Figures) explainNet(b *strings.Builder, o Outcome) {
	fmt.Fprintf(b, "gross %.1f - markers %.1f - questions %.1f - definitions %.1f - misses %.1f = net %.1f, "+
		"%.2f %% of the bill (misses twice %.2f %%, three times %.2f %%; by the wide rule %.2f %%)\n",
		o.Gross, o.Markers, o.Questions, o.Definitions, o.Misses, o.Net(1), 100*o.Net(1)/f.Total,
		100*o.Net(2)/f.Total, 100*o.Net(3)/f.Total, 100*(o.Net(1)+o.Misses-o.Wide)/f.Total)
}

// explainMisses prints each gap that was fetched, and the turn of the call that lacked it.
func (f *Figures) explainMisses(b *strings.Builder, missed []miss) {
	if len(missed) == 0 {
		return
	}
	fmt.Fprintf(b, "miss = again x weight then, and context x %g + %d x %g for the first of a model call\n", f.Prices.CacheRead, sessions.TurnTokens, f.Prices.Output)
	w := tabwriter.NewWriter(b, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "of step\tneeded at step\trule\tline\tagain\tweight then\tcontext\tmiss")
	for _, m := range missed {
		line := f.attempts[m.result].body.First + m.need.Line
		fmt.Fprintf(w, "%d\t%d\t%s\t%d\t%d\t%.2f\t%d\t%.1f\n", f.Results[m.result].Step, m.need.Step, m.need.Rule, line, m.again, m.then, m.context, m.cost)
	}
	_ = w.Flush() // writes to memory
}

// explainServer prints what a server of its own adds: definitions and questions.
func (f *Figures) explainServer(b *strings.Builder, o Outcome) {
	if len(o.defined) == 0 {
		return
	}
	weight := 0.0
	for _, w := range o.defined {
		weight += w
	}
	fmt.Fprintf(b, "definitions = %d x %.2f, the weights of %d contexts. A question costs tokens x (%g + weight):\n",
		definitionTokens, weight, len(o.defined), f.Prices.Output)
	w := tabwriter.NewWriter(b, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "step\ttokens\tweight\tquestion")
	for _, q := range o.asked {
		fmt.Fprintf(w, "%d\t%d\t%.2f\t%.1f\n", q.step, q.tokens, q.weight, float64(q.tokens)*(f.Prices.Output+q.weight))
	}
	_ = w.Flush() // writes to memory
}
