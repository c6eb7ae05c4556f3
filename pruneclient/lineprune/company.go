package lineprune

import (
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/doc"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/structure"
)

// company holds the lines that a kept line brings: those that hold its record together, its heading, the heading of that one, and so on, and the first of the lines that are
// equal to it, with its headings.
type company struct {
	data   *structure.Data // records and what holds them together; nil: none
	heads  []int32         // per line, its heading or -1; nil: none
	first  []int32         // per line, the first equal line or -1; nil: none
	tokens []int32         // per line, under a budget; else nil
	stamp  []int32         // per line, the last range for which it was counted
	round  int32
}

func (in input) company() *company {
	c := &company{heads: in.Heads, first: firstEqual(in.Text)}
	if in.Data.Nested() {
		c.data = in.Data
	}
	if in.budgeted() {
		c.tokens = in.Doc.Tokens
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
			if c.tokens != nil && c.tokens[h] > doc.HeadTokens { // too long for a budget, such as one between two rules across the page
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

// eachPart calls visit for the lines that hold the parts of structured data together which contain line i, and that are
// not kept.
func (c *company) eachPart(keep []cause, i int, visit func(line int, why cause) bool) {
	if c.data == nil {
		return
	}
	for part := c.data.Of[i]; part >= 0; part = c.data.Parts[part].Parent {
		for _, line := range c.data.Parts[part].Stays {
			if keep[line] == dropped && line != i {
				visit(line, heading)
			}
		}
	}
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
