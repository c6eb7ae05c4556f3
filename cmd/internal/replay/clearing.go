package replay

// cleared is what the policy gc would have done to one session.
type cleared struct {
	input  float64 // price of all prompts as they were
	change float64 // of it, by clearing; negative is good
	reread float64 // part of change: what was cleared and needed later
	fixed  float64 // what change would be with the best fixed rule
}

// clearing adds sessions up.
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
