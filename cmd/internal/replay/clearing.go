package replay

// cleared is the effect that the policy gc would have had on one session.
type cleared struct {
	input  float64 // price of all prompts as they were
	change float64 // change of that price by clearing; negative is good
	reread float64 // the part of change for results that were cleared and needed later
	fixed  float64 // change with the best fixed rule
}

// clearing sums over sessions.
type clearing struct {
	cleared
	worst float64
	any   bool
}

func (c *clearing) add(s cleared) {
	c.input += s.input
	c.change += s.change
	c.reread += s.reread
	c.fixed += s.fixed
	if s.input > 0 {
		pct := 100 * s.change / s.input
		if !c.any || pct > c.worst {
			c.worst = pct
		}
		c.any = true
	}
}

func (c *clearing) finish() Clearing {
	return Clearing{percent(c.change, c.input), percent(c.reread, c.input), round(c.worst), percent(c.fixed, c.input)}
}
