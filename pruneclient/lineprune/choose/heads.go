package choose

import (
	"slices"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/doc"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/learned"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/structure"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/tuning"
)

// company is what a kept line brings: what holds its record together, its heading, the heading of that one, and so on, and the first of the lines that are
// equal to it, with its headings.
type company struct {
	data   *structure.Data // records and what holds them together; nil: none
	heads  []int32         // per line, its heading or -1; nil: none
	first  []int32         // per line, the first equal line or -1; nil: none
	tokens []int32         // per line, under a budget; else nil
	stamp  []int32         // per line, the last range for which it was counted
	round  int32
}

func (p *chooser) companyOf() *company {
	c := &company{heads: p.Heads, first: p.firstEqual()}
	if p.Data.Nested() {
		c.data = p.Data
	}
	if p.budgeted() {
		c.tokens = p.Doc.Tokens
	}
	return c
}

// each calls visit for the lines that line i brings and that are not kept. visit returns false for a line whose own
// headings need no visit.
func (c *company) each(keep []cause, i int, visit func(line int, why cause) bool) {
	chain := func(from int) {
		if c.heads == nil {
			return
		}
		for h := c.heads[from]; h >= 0 && keep[h] == dropped; h = c.heads[h] {
			if c.costly(h) {
				continue
			}
			if !visit(int(h), heading) {
				return
			}
		}
	}
	c.eachPart(keep, i, visit)
	chain(i)
	if c.first == nil || c.first[i] < 0 {
		return
	}
	if at := int(c.first[i]); keep[at] == dropped && visit(at, equal) {
		chain(at)
	}
}

// costly reports whether a heading is too long for a budget, such as one between two rules across the page.
func (c *company) costly(head int32) bool {
	return c.tokens != nil && c.tokens[head] > tuning.HeadTokens
}

// missing returns the tokens of the lines that a range of lines brings.
func (c *company) missing(d *doc.Document, keep []cause, at span) int {
	if c.stamp == nil {
		c.stamp = make([]int32, len(keep))
	}
	c.round++
	sum := 0
	for k := int(at.start); k < int(at.end); k++ {
		c.each(keep, k, func(line int, _ cause) bool {
			inside := line >= int(at.start) && line < int(at.end)
			if c.stamp[line] == c.round {
				return false
			}
			c.stamp[line] = c.round
			if !inside {
				sum += int(d.Tokens[line])
			}
			return true
		})
	}
	return sum
}

// complete keeps what the kept lines bring. It reports whether there was any.
func (c *company) complete(d *doc.Document, keep []cause) bool {
	found := false
	for i := range keep {
		if keep[i] == dropped || d.Blank(i) {
			continue
		}
		c.each(keep, i, func(line int, why cause) bool {
			keep[line], found = why, true
			return true
		})
	}
	return found
}

// keepNamed keeps the lines that the question names literally, the rarest names first, up to a small part of the text.
func (f *fill) keepNamed() {
	left := max(tuning.NamedTokens, int(tuning.NamedPart*float64(f.p.Doc.Total)))
	if f.p.budgeted() {
		left = min(left, f.allowance-f.used)
	}
	for _, i := range f.p.Named {
		at := span{int32(i), int32(i + 1)}
		need := f.missing(at)
		if f.keep[i] != dropped || need > left {
			continue
		}
		left -= need
		f.force(at, named)
	}
}

// missing returns the tokens that a range of lines adds to those kept.
func (f *fill) missing(at span) int {
	need := f.p.brings.missing(f.p.Doc, f.keep, at)
	for k := at.start; k < at.end; k++ {
		if f.keep[k] == dropped {
			need += int(f.p.Doc.Tokens[k])
		}
	}
	return need
}

// within returns the best ranges that fit into the budget together with what they bring.
func (p *chooser) within(plan *learned.Plan, keep []cause) []bool {
	budget := int(p.opts.Budget * float64(p.Doc.Total))
	allowance := budget
	for {
		chosen := plan.Within(allowance)
		over := p.tokensWith(chosen, keep) - budget
		if over <= 0 || allowance <= 0 {
			return chosen
		}
		allowance = max(allowance-max(over, budget/budgetSteps+1), 0)
	}
}

// budgetSteps bounds how often a budget is tried that leaves more room for headings.
const budgetSteps = 20

// tokensWith returns the tokens of the kept and the chosen lines and of what they bring.
func (p *chooser) tokensWith(chosen []bool, keep []cause) int {
	all := slices.Clone(keep)
	for i, yes := range chosen {
		if yes && all[i] == dropped {
			all[i] = relevant
		}
	}
	p.brings.complete(p.Doc, all)
	sum := 0
	for i, c := range all {
		if c != dropped {
			sum += int(p.Doc.Tokens[i])
		}
	}
	return sum
}

// settle keeps the gaps that are not worth their marker, and what all kept lines bring.
func (p *chooser) settle(keep []cause, bridge func([]cause)) {
	for range settleRounds {
		bridge(keep)
		if !p.brings.complete(p.Doc, keep) {
			return
		}
	}
}

// settleRounds bounds the passes over a text in which headings and gaps call for each other.
const settleRounds = 8
