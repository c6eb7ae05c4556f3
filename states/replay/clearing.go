package replay

import "slices"

// clearing sums over sessions.
type clearing struct {
	cleared
	per      []float64 // change of each session's input, in percent
	fixedPer []float64 // the same with the best fixed rule
}

func (c *clearing) add(s cleared) {
	c.input += s.input
	c.change += s.change
	c.reread += s.reread
	c.fixed += s.fixed
	if s.input > 0 {
		c.per = append(c.per, 100*s.change/s.input)
		c.fixedPer = append(c.fixedPer, 100*s.fixed/s.input)
	}
}

func (c *clearing) finish(p Pruning) Clearing {
	slices.Sort(c.per)
	slices.Sort(c.fixedPer)
	return Clearing{
		Pruning: p, Input: percent(c.change, c.input), Reread: percent(c.reread, c.input), Worst: round(quantile(c.per, 1)),
		Fixed: percent(c.fixed, c.input), FixedWorst: round(quantile(c.fixedPer, 1)),
	}
}
