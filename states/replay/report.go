package replay

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history/bill"
)

// Report is the result over all sessions. Its JSON is a contract (SPEC part J). Savings are positive and in
// percent of the bill.
type Report struct {
	Sessions int                `json:"sessions"`
	Bill     float64            `json:"bill"` // in fresh input tokens
	Share    map[string]float64 `json:"share_pct"`
	Limit    Limit              `json:"limit_pct"`
	Policies map[Policy]any     `json:"policies"`

	// Composition is what the bill is made of: by content, then by price.
	Composition map[string]bill.By `json:"composition"`

	// HourOnPrefix is what a cache lifetime of an hour on the fixed prefix would have saved; the program does not set it.
	HourOnPrefix float64 `json:"hour_on_prefix_pct"`
	HourUnknown  int     `json:"hour_on_prefix_unknown_pauses"` // writes whose pause is not known, taken for shorter than an hour

	Measured int `json:"sessions_with_usage"`
	Guessed  int `json:"calls_with_modelled_output"` // because the transcript has placeholders
	Calls    int `json:"calls"`

	// Needed is the share in percent of the results large enough to be cut of which a line was needed later. A set with a small
	// one has needs that the rules do not see.
	Needed float64 `json:"results_needed_later_pct"`
	Large  int     `json:"large_results"`

	Prices  string             `json:"prices"`
	Details map[Policy]Detail  `json:"details,omitempty"`
	Skipped []string           `json:"skipped,omitempty"`
	Sizes   map[string]float64 `json:"-"` // by the names of SizeClasses
}

// Below these shares of Needed, and with so many results, the figures are labelled, and not printed. Agents that edit what they
// read have half of the large results needed; those that review, or click through pages, leave few marks.
const (
	fewNeeds    = 25
	noNeeds     = 8
	judgedNeeds = 30
)

// Label returns a warning about figures that look better than they are; "" where they do not. printed is false where the
// needs are not seen at all, so that nobody can say what pruning would have saved.
func (r Report) Label() (label string, printed bool) {
	switch {
	case r.Large < judgedNeeds || r.Needed >= fewNeeds:
		return "", true
	case r.Needed >= noNeeds:
		return fmt.Sprintf("Too good: only %.0f %% of the large results leave a mark of being needed (half do where agents edit), so that misses are not seen.", r.Needed), true
	}
	return fmt.Sprintf("No net: only %.0f %% of the large results leave a mark of being needed, so that nobody can say what was missed.", r.Needed), false
}

// Limit is the saving of a perfect pruner that keeps a given share of every result of read, bash and grep
// with at least limitFrom tokens.
type Limit struct {
	Keep10 float64 `json:"keep10"`
	Keep20 float64 `json:"keep20"`
	Keep30 float64 `json:"keep30"`
}

// Pruning summarises a policy that prunes.
type Pruning struct {
	Gross   float64 `json:"gross_pct"`
	Net     float64 `json:"net_pct"`
	Wide    float64 `json:"net_pct_wide"` // where every identifier that stands only in cut lines is needed when it is written
	Misses2 float64 `json:"net_pct_misses2"`
	Misses3 float64 `json:"net_pct_misses3"`
	Median  float64 `json:"median_pct"`
	P10     float64 `json:"p10_pct"`
	P90     float64 `json:"p90_pct"`
	Losing  float64 `json:"losing_pct"`
}

// Clearing summarises the policy gc: its figures as those of the others, and the change of modelled input.
type Clearing struct {
	Pruning
	Input  float64 `json:"input_pct"` // change of modelled input; negative is good
	Reread float64 `json:"reread_pct"`
	Worst  float64 `json:"worst_session_pct"`

	// The same with the best fixed rule.
	Fixed      float64 `json:"fixed_rule_pct"`
	FixedWorst float64 `json:"fixed_rule_worst_session_pct"`
}

// Of returns the figures of a policy.
func (r Report) Of(p Policy) (Pruning, bool) {
	switch figures := r.Policies[p].(type) {
	case Pruning:
		return figures, true
	case Clearing:
		return figures.Pruning, true
	}
	return Pruning{}, false
}

// Detail breaks down the figures of a Pruning.
type Detail struct {
	Markers     float64          `json:"markers_pct"`
	Questions   float64          `json:"questions_pct"`
	Definitions float64          `json:"definitions_pct"`
	Misses      float64          `json:"misses_pct"`
	Pruned      int              `json:"pruned"`
	Missed      int              `json:"missed"`
	Turns       int              `json:"calls_that_lacked"` // each costs a turn
	Hurt        float64          `json:"hurt_sessions_pct"` // of policy context: sessions that called what was switched off
	Tools       map[string]Group `json:"tools"`
	Sizes       map[string]Group `json:"sizes"`
	Interval    [2]float64       `json:"net_pct_interval"` // 95 % bootstrap interval over sessions
	PerSession  []float64        `json:"-"`                // net in percent of each session's bill, sorted
}

// Group is a subset of the pruned results.
type Group struct {
	Pruned int     `json:"pruned"`
	Missed int     `json:"missed"`
	Gross  float64 `json:"gross_pct"`
	Net    float64 `json:"net_pct"`
}

// losing is the net, in percent of a session's bill, below which a session counts as a loss.
const losing = -0.05

// limitFrom is the size in tokens from which a result counts for Limit.
const limitFrom = 1000

// SizeClasses are classes of results by size in tokens.
var SizeClasses = []struct {
	Name string
	from int
}{{"20k+", 20000}, {"5k-20k", 5000}, {"2k-5k", 2000}, {"1k-2k", 1000}, {"under 1k", 0}}

func sizeClass(tokens int) string {
	for _, c := range SizeClasses {
		if tokens >= c.from {
			return c.Name
		}
	}
	return ""
}

// collector sums over sessions.
type collector struct {
	report   Report
	share    map[string]float64
	sizes    map[string]float64
	limit    [3]float64
	policies map[Policy]*sum
	clearing *clearing
	prices   map[string]bool
	contents map[string]bill.By
	hour     bill.Lifetime

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
		prices: map[string]bool{}, contents: map[string]bill.By{}}
	for _, p := range policies {
		if p == GC {
			c.clearing = &clearing{}
		}
		c.policies[p] = &sum{tools: map[string]Group{}, sizes: map[string]Group{}}
	}
	return c
}

// add adds the figures of one session.
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
	r.Composition = map[string]bill.By{}
	for content, by := range c.contents {
		r.Composition[content] = bill.By{Fresh: pct(by.Fresh), Write: pct(by.Write), Again: pct(by.Again), Read: pct(by.Read), Output: pct(by.Output)}
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

func percent(x, of float64) float64 {
	if of == 0 {
		return 0
	}
	return round(100 * x / of)
}

func round(x float64) float64 { return math.Round(x*100) / 100 }

// quantile returns the value at fraction q of a sorted list.
func quantile(sorted []float64, q float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	at := q * float64(len(sorted)-1)
	low := int(at)
	high := min(low+1, len(sorted)-1)
	return sorted[low] + (at-float64(low))*(sorted[high]-sorted[low])
}

func lost(per []float64) float64 {
	n := 0
	for _, net := range per {
		if net < losing {
			n++
		}
	}
	return percent(float64(n), float64(len(per)))
}

// ByValue returns the names sorted by value, largest first.
func ByValue(m map[string]float64) []string {
	return slices.SortedFunc(maps.Keys(m), func(a, b string) int {
		return cmp.Or(cmp.Compare(m[b], m[a]), cmp.Compare(a, b))
	})
}

// interval returns the 95 % bootstrap interval of a pooled net in percent, by resampling sessions.
func interval(nets [][2]float64) [2]float64 {
	if len(nets) == 0 {
		return [2]float64{}
	}
	const draws = 1000
	random := rand.New(rand.NewPCG(7, uint64(len(nets))))
	pooled := make([]float64, draws)
	for d := range pooled {
		var net, bill float64
		for range nets {
			one := nets[random.IntN(len(nets))]
			net, bill = net+one[0], bill+one[1]
		}
		pooled[d] = percent(net, bill)
	}
	slices.Sort(pooled)
	return [2]float64{pooled[draws*25/1000], pooled[draws*975/1000]}
}
