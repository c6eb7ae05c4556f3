package replay

import (
	"cmp"
	"slices"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history/sessions"
)

// miss is a line that a later model call needed. It is fetched with its gap, which stands in the context from then on.
type miss struct {
	result  int
	need    need
	again   int     // tokens that are fetched; 0 if they were counted before
	then    float64 // weight of a token that enters the prompt at that time
	context int     // tokens of the context that one more turn reads; 0 if the call lacks something else, too
	cost    float64
}

// cutLines reports whether a policy cut a line.
type cutLines func(result, line int) bool

// misses returns what later calls lacked, in order. Each call that lacks anything costs one turn, and each gap its tokens,
// once: a model that fetches a gap looks for what it needs then, and is not taken to have read all that it needs later. With
// wide the identifiers that stand only in cut lines count, too.
func (t *trial) misses(attempts map[int]attempt, cut cutLines, wide bool) []miss {
	type gap struct{ result, start int }
	fetched, turned, again := map[gap]bool{}, map[int]bool{}, map[int]int{}
	seen := map[needPlace]bool{}
	var list []miss
	for _, m := range t.lacking(attempts, cut, wide) {
		if slices.ContainsFunc(m.need.Earlier, func(p needPlace) bool { return seen[p] }) {
			continue
		}
		seen[needPlace{Result: m.result, Line: m.need.Line}] = true
		if g := (gap{m.result, t.gapOf(attempts[m.result], m.need.Line)}); !fetched[g] {
			fetched[g] = true
			m.again = min(t.gapTokens(attempts[m.result], g.start), t.Results[m.result].Tokens-again[m.result])
			again[m.result] += m.again
		}
		call := t.callOf(m.need.Step)
		if m.again == 0 && turned[call] {
			continue
		}
		m.then = t.WeightFrom(call)
		m.cost = float64(m.again) * m.then
		if !turned[call] {
			turned[call] = true
			m.context = t.Calls[call].Prompt
			m.cost += float64(m.context)*t.Calls[call].Price.CacheRead + sessions.TurnTokens*t.Calls[call].Price.Output
		}
		list = append(list, m)
	}
	return list
}

// lacking returns the needs that a cut leaves out, in the order in which they arise.
func (t *trial) lacking(attempts map[int]attempt, cut cutLines, wide bool) []miss {
	shows := func(p needPlace) bool { return !cut(p.Result, p.Line) }
	var list []miss
	for result := range attempts {
		for _, n := range t.needs[result] {
			if (wide || n.Rule != RuleWide) && cut(result, n.Line) && !slices.ContainsFunc(n.Earlier, shows) {
				list = append(list, miss{result: result, need: n})
			}
		}
	}
	slices.SortFunc(list, func(a, b miss) int {
		return cmp.Or(cmp.Compare(a.need.Step, b.need.Step), cmp.Compare(a.result, b.result), cmp.Compare(a.need.Line, b.need.Line))
	})
	return list
}

// callOf returns the model call whose answer a step belongs to.
func (t *trial) callOf(step int) int {
	at := 0
	for at < len(t.Calls)-1 && t.Calls[at+1].Step <= step {
		at++
	}
	return at
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
	return t.Tokens(a.body.Shown(gap))
}
