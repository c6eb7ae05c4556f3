package lineprune

import "sort"

// ranking is the lines with any relevance, best first, ties in text order.
func (r *relevance) ranking() []int {
	order := make([]int, len(r.score))
	for i := range order {
		order[i] = i
	}
	sort.SliceStable(order, func(a, b int) bool { return r.score[order[a]] > r.score[order[b]] })
	return order
}

func (r *relevance) best() float64 {
	best := 0.0
	for _, s := range r.score {
		best = max(best, s)
	}
	return best
}

// fill keeps the best lines above floor whose tokens fit the allowance.
func (p *pruning) fill(keep []bool, order []int, allowance int, floor float64) {
	used := 0
	for i, k := range keep {
		if k {
			used += int(p.d.tokens[i])
		}
	}
	for _, i := range order {
		if p.relevance.score[i] <= floor {
			return
		}
		if !keep[i] && used+int(p.d.tokens[i]) <= allowance {
			keep[i] = true
			used += int(p.d.tokens[i])
		}
	}
}

// reach keeps further lines, best first, until at least want are kept.
func (p *pruning) reach(keep []bool, order []int, want int) {
	kept := 0
	for _, k := range keep {
		if k {
			kept++
		}
	}
	for _, i := range order {
		if kept >= want {
			return
		}
		if !keep[i] {
			keep[i] = true
			kept++
		}
	}
}

// bridge keeps the gaps a marker would not be shorter than.
func (p *pruning) bridge(keep []bool) {
	for i := 0; i < len(keep); i++ {
		if keep[i] {
			continue
		}
		start, size := i, 0
		for ; i < len(keep) && !keep[i]; i++ {
			size += len(p.d.lines[i]) + 1
		}
		if p.opts.Marker != nil && len(p.opts.Marker(Block{start + 1, i, offFocus}))+1 >= size {
			for j := start; j < i; j++ {
				keep[j] = true
			}
		}
	}
}

const offFocus = "hors focus"
