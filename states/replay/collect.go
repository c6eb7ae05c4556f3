package replay

import (
	"maps"
	"slices"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/history/sessions"
)

// collector sums over sessions.
type collector struct {
	report   Report
	share    map[string]float64
	sizes    map[string]float64
	limit    [3]float64
	policies map[Policy]*sum
	clearing *clearing
	prices   map[string]bool
	contents map[string]sessions.SplitPrice
	hour     sessions.Lifetime

	large, needed int // results
}

// sum holds the totals of one policy over all sessions.
type sum struct {
	Outcome
	per   []float64
	nets  [][2]float64 // per session: net and bill
	tools map[string]Group
	sizes map[string]Group
	hurt  int // sessions
}

func newCollector(policies []Policy) *collector {
	c := &collector{share: map[string]float64{}, sizes: map[string]float64{}, policies: map[Policy]*sum{},
		prices: map[string]bool{}, contents: map[string]sessions.SplitPrice{}}
	for _, p := range policies {
		if p == GC {
			c.clearing = &clearing{}
		}
		c.policies[p] = &sum{tools: map[string]Group{}, sizes: map[string]Group{}}
	}
	return c
}

func (c *collector) add(f *Figures) {
	c.report.Sessions++
	c.report.Bill += f.Total
	if f.Measured {
		c.report.Measured++
	}
	c.report.Calls += len(f.Calls)
	c.report.Guessed += f.Guessed
	for content, by := range f.contents {
		c.contents[content] = c.contents[content].Plus(by)
	}
	c.hour = c.hour.Plus(f.HourOnPrefix(f.prefixTokens))
	c.large += f.large
	c.needed += f.needed
	c.prices[f.Prices.String()] = true
	for _, r := range f.Results {
		price := float64(r.Tokens) * r.Weight
		c.share[f.toolOf(r)] += price
		c.sizes[sizeClass(r.Tokens)] += price
		if inLimit(r) {
			for i, kept := range []float64{.1, .2, .3} {
				c.limit[i] += price * (1 - kept)
			}
		}
	}
	for p, s := range c.policies {
		s.add(f.trial, f.outcomes[p])
	}
	if c.clearing != nil {
		c.clearing.add(f.cleared)
	}
}

func (s *sum) add(t *trial, o Outcome) {
	s.Gross += o.Gross
	s.Markers += o.Markers
	s.Questions += o.Questions
	s.Definitions += o.Definitions
	s.Misses += o.Misses
	s.Wide += o.Wide
	s.Turns += o.Turns
	s.Pruned += o.Pruned
	s.Missed += o.Missed
	if o.hurt {
		s.hurt++
	}
	s.nets = append(s.nets, [2]float64{o.Net(1), t.Total})
	if t.Total > 0 {
		s.per = append(s.per, 100*o.Net(1)/t.Total)
	}
	for _, r := range o.rows {
		for groups, name := range map[*map[string]Group]string{&s.tools: t.toolOf(r.r), &s.sizes: sizeClass(r.r.Tokens)} {
			g := (*groups)[name]
			g.Pruned++
			g.Gross += r.saved
			g.Net += r.saved - r.added - r.miss
			if r.missed {
				g.Missed++
			}
			(*groups)[name] = g
		}
	}
}

// finish converts the sums to percentages.
func (c *collector) finish() Report {
	r := c.report
	pct := func(x float64) float64 { return percent(x, r.Bill) }
	r.Composition = map[string]sessions.SplitPrice{}
	for content, by := range c.contents {
		r.Composition[content] = sessions.SplitPrice{Fresh: pct(by.Fresh), Write: pct(by.Write), Again: pct(by.Again), Read: pct(by.Read), Output: pct(by.Output)}
	}
	r.HourOnPrefix, r.HourUnknown = pct(c.hour.Net()), c.hour.Unknown
	r.Large = c.large
	r.Needed = percent(float64(c.needed), float64(c.large))
	r.Prices = strings.Join(slices.Sorted(maps.Keys(c.prices)), "; ")
	r.Share, r.Sizes = scaled(c.share, r.Bill), scaled(c.sizes, r.Bill)
	r.Limit = Limit{pct(c.limit[0]), pct(c.limit[1]), pct(c.limit[2])}
	r.Policies, r.Details = map[Policy]any{}, map[Policy]Detail{}
	for p, s := range c.policies {
		slices.Sort(s.per)
		r.Policies[p] = s.pruning(pct)
		r.Details[p] = Detail{
			Markers: pct(s.Markers), Questions: pct(s.Questions), Definitions: pct(s.Definitions), Misses: pct(s.Misses),
			Pruned: s.Pruned, Missed: s.Missed, Turns: s.Turns, Hurt: percent(float64(s.hurt), float64(len(s.nets))),
			Tools: groups(s.tools, r.Bill), Sizes: groups(s.sizes, r.Bill), Interval: interval(s.nets), PerSession: s.per,
		}
	}
	if c.clearing != nil {
		r.Policies[GC] = c.clearing.finish(r.Policies[GC].(Pruning))
	}
	return r
}

// pruning summarises a policy. Sessions are judged by the strict rule.
func (s *sum) pruning(pct func(float64) float64) Pruning {
	return Pruning{
		Gross: pct(s.Gross), Net: pct(s.Net(1)), Wide: pct(s.Net(1) + s.Misses - s.Wide), Misses2: pct(s.Net(2)), Misses3: pct(s.Net(3)),
		Median: round(quantile(s.per, .5)), P10: round(quantile(s.per, .1)), P90: round(quantile(s.per, .9)), Losing: lost(s.per),
	}
}

func groups(in map[string]Group, bill float64) map[string]Group {
	for name, g := range in {
		g.Gross, g.Net = percent(g.Gross, bill), percent(g.Net, bill)
		in[name] = g
	}
	return in
}

func scaled(in map[string]float64, bill float64) map[string]float64 {
	out := map[string]float64{}
	for name, x := range in {
		out[name] = percent(x, bill)
	}
	return out
}

// limitFrom is the size in tokens from which a result counts for Limit.
const limitFrom = 1000

// inLimit reports whether a result counts for Limit.
func inLimit(r sessions.ResultCost) bool {
	return r.Tokens >= limitFrom && (r.Kind == history.Read || r.Kind == history.Bash || r.Kind == history.Grep)
}
