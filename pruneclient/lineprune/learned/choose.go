package learned

// gainOf returns the expected benefit of keeping each line: its tokens times two to the power of its score.
// Only the ratios between the lines of one text matter.
func gainOf(in *Input, scores []int32) []int64 {
	gain := make([]int64, len(scores))
	for i, s := range scores {
		gain[i] = int64(in.Tokens[i]) * power(s)
	}
	return gain
}

// maxBits limits the absolute value of scores in bits, so that sums over any text fit into 64 bits.
const maxBits = 12

// power returns 4096 times two to the power of score, interpolated linearly between whole bits.
func power(score int32) int64 {
	score = min(max(score, -maxBits*OneBit), maxBits*OneBit)
	whole := int(score) >> 10
	part := int64(score) - int64(whole)<<10
	return ((1 << (maxBits + whole)) * (OneBit + part)) >> 10
}

// Plan holds the lines to choose among, and the costs of keeping and omitting them.
type Plan struct {
	gain   []int64 // per line
	tokens []int32 // per line
	marker int32   // tokens of the marker that replaces an omitted range
	Forced []bool  // lines that are always kept; nil: none
}

// Average returns the mean gain per token. A price relative to it does not depend on the ranking's
// confidence in the text as a whole.
func (p *Plan) Average() int64 {
	gain, tokens := int64(0), int64(0)
	for i, g := range p.gain {
		gain += g
		tokens += int64(p.tokens[i])
	}
	return gain / max(tokens, 1)
}

// At sets keep to the optimal choice at a price in gain per token: it maximises the gain of the kept lines
// minus the price of their tokens and of the markers.
func (p *Plan) At(price int64, keep []bool) {
	// keepBest and dropBest are the best totals up to the current line with that line kept or omitted. from
	// records which predecessor each total came from.
	const fromKeep, fromDrop = 1, 2
	from := make([]uint8, len(p.gain))
	keepBest, dropBest := int64(0), -int64(p.marker)*price
	for i, g := range p.gain {
		k, d := keepBest, dropBest
		if d > k {
			k, from[i] = d, fromKeep
		}
		if open := keepBest - int64(p.marker)*price; i > 0 && open > dropBest {
			d, from[i] = open, from[i]|fromDrop
		}
		if p.Forced != nil && p.Forced[i] {
			d = -1 << 60
		}
		keepBest, dropBest = k+g-int64(p.tokens[i])*price, d
	}
	kept := keepBest >= dropBest
	for i := len(keep) - 1; i >= 0; i-- {
		keep[i] = kept
		if kept {
			kept = from[i]&fromKeep == 0
		} else {
			kept = from[i]&fromDrop != 0
		}
	}
}

// Within keeps the best ranges whose tokens, without markers, are at most budget, and spends the rest of
// the budget on single lines next to them.
func (p *Plan) Within(budget int) []bool {
	keep := p.search(budget)
	p.fill(keep, budget-p.tokensOf(keep))
	return keep
}

// rounds is the number of steps of the binary search for a price.
const rounds = 22

// search returns the choice at the lowest price that fits into a budget.
func (p *Plan) search(budget int) []bool {
	keep, best := make([]bool, len(p.gain)), make([]bool, len(p.gain))
	low, high := int64(0), p.highest()
	p.At(high, best)
	for range rounds {
		mid := (low + high) / 2
		p.At(mid, keep)
		if p.tokensOf(keep) <= budget {
			high = mid
			copy(best, keep)
		} else {
			low = mid
		}
	}
	return best
}

// highest returns a price above the gain per token of every line.
func (p *Plan) highest() int64 {
	top := int64(0)
	for i, g := range p.gain {
		top = max(top, g/int64(max(p.tokens[i], 1)))
	}
	return top + 1
}

func (p *Plan) tokensOf(keep []bool) int {
	sum := 0
	for i, k := range keep {
		if k {
			sum += int(p.tokens[i])
		}
	}
	return sum
}

// fill extends kept ranges by adjacent lines, best first, within left tokens.
func (p *Plan) fill(keep []bool, left int) {
	for {
		best, at := int64(-1), -1
		for i, k := range keep {
			t := int64(p.tokens[i])
			beside := i > 0 && keep[i-1] || i+1 < len(keep) && keep[i+1]
			if !k && beside && int(t) <= left && p.gain[i]/t > best {
				best, at = p.gain[i]/t, i
			}
		}
		if at < 0 {
			return
		}
		keep[at] = true
		left -= int(p.tokens[at])
	}
}
