package lineprune

import (
	"math"
	"slices"
)

// cause is why a line is kept.
type cause uint8

const (
	dropped cause = iota
	relevant
	definition // encloses a kept line
	imported   // names what the file needs
	between    // a gap too small for a marker
	guarded    // between NO_PRUNE directives, or a marker
	alarm      // a sign of trouble in a log
	ending     // the last lines of a log
	required   // by the limits
	wholeText  // nothing was pruned
)

// choose keeps what is protected, then the best lines, then what they need around
// them, then what the limits ask for.
func (p *pruning) choose() []cause {
	keep := p.protect()
	f := p.newFill(keep)
	f.take(p.relevance.ranking(p.floor()))
	if !p.budgeted() {
		f.allowance = f.used + int(extraShare*float64(p.d.total))
		f.surround()
	}
	want := limitsOf(len(keep), p.opts).minKept
	if p.budgeted() { // a text of a few lines may have none that fits
		want = max(want, 1)
	}
	if f.kept < want {
		f.reach(p.relevance.ranking(-1), want)
	}
	p.bridge(keep)
	return keep
}

// floor is the score a line has to pass to be kept for itself.
func (p *pruning) floor() float64 {
	switch {
	case !p.budgeted():
		return freeFloor * p.relevance.best()
	case p.kind == Logs:
		return logFloor * p.relevance.best()
	}
	return 0
}

// ranking is the lines scored above floor, best first, ties in text order. Scores are compared with
// the precision of a float32, which forgives the last bits to machines that differ
// in them.
func (r *relevance) ranking(floor float64) []int {
	var keys []uint64
	for i, s := range r.score {
		if s > floor {
			keys = append(keys, uint64(math.Float32bits(float32(s)))<<32|uint64(^uint32(i)))
		}
	}
	slices.Sort(keys)
	order := make([]int, len(keys))
	for i, k := range keys {
		order[len(keys)-1-i] = int(^uint32(k))
	}
	return order
}

func (r *relevance) best() float64 { return highest(r.score) }

// highest is the largest of values that are not negative, 0 of none.
func highest[T float32 | float64](values []T) T {
	top := T(0)
	for _, v := range values {
		top = max(top, v)
	}
	return top
}

// fill keeps lines while they fit.
type fill struct {
	p         *pruning
	keep      []cause
	atoms     []span // per line, what is kept with it or not at all
	used      int    // tokens kept
	kept      int    // lines kept
	allowance int    // tokens
}

// span is a range of lines, the end excluded; the zero span stands for the line
// itself.
type span struct{ start, end int32 }

func (p *pruning) newFill(keep []cause) *fill {
	share := freeShare
	switch {
	case p.budgeted():
		share = p.opts.Budget
	case p.kind == Logs:
		share = freeLogShare
	}
	f := &fill{p: p, keep: keep, allowance: int(share * float64(p.d.total)), atoms: p.atoms()}
	for i, c := range keep {
		if c != dropped {
			f.used += int(p.d.tokens[i])
			f.kept++
		}
	}
	return f
}

// take keeps lines in order, then the blank lines between two of them: a blank line
// is worth nothing by itself.
func (f *fill) take(order []int) {
	for _, i := range order {
		if !f.p.d.blank(i) {
			f.add(i, relevant)
		}
	}
	for i := 1; i+1 < len(f.keep); i++ {
		if f.p.d.blank(i) && f.keep[i-1] != dropped && f.keep[i+1] != dropped {
			f.add(i, between)
		}
	}
}

// add keeps line i, and all that goes with it, if it fits.
func (f *fill) add(i int, why cause) bool {
	if f.keep[i] != dropped {
		return true
	}
	at := f.atomOf(i)
	need := 0
	for k := at.start; k < at.end; k++ {
		if f.keep[k] == dropped {
			need += int(f.p.d.tokens[k])
		}
	}
	if f.used+need > f.allowance {
		return false
	}
	f.force(at, why)
	return true
}

func (f *fill) atomOf(i int) span {
	if f.atoms != nil && f.atoms[i].end > 0 {
		return f.atoms[i]
	}
	return span{int32(i), int32(i + 1)}
}

func (f *fill) force(at span, why cause) {
	for k := at.start; k < at.end; k++ {
		if f.keep[k] == dropped {
			f.keep[k] = why
			f.used += int(f.p.d.tokens[k])
			f.kept++
		}
	}
}

// surround keeps the definitions and headings around kept lines, then the imports.
func (f *fill) surround() {
	units := f.p.outline.units
	for i, u := range f.p.outline.of {
		if f.keep[i] == dropped {
			continue
		}
		for ; u >= 0; u = int32(units[u].parent) {
			if head := units[u].head; head >= 0 && f.p.kind != Logs {
				f.add(head, definition)
			}
		}
	}
	if f.p.kind != Code {
		return
	}
	for i, line := range f.p.d.lines {
		if isImport(line) && !f.add(i, imported) {
			return
		}
	}
}

// reach keeps further lines, best first, until at least want are kept.
func (f *fill) reach(order []int, want int) {
	for _, i := range order {
		if f.kept >= want {
			return
		}
		if f.keep[i] == dropped {
			f.force(f.atomOf(i), required)
		}
	}
}

// bridge keeps the gaps that are not worth their marker.
func (p *pruning) bridge(keep []cause) {
	for i := 0; i < len(keep); i++ {
		if keep[i] != dropped {
			continue
		}
		start, tokens, size := i, 0, 0
		for ; i < len(keep) && keep[i] == dropped; i++ {
			tokens += int(p.d.tokens[i])
			size += p.d.size(i) + 1
		}
		small := !p.budgeted() && p.kind != Grep && tokens < bridged
		if small || p.opts.Marker != nil && len(p.opts.Marker(Block{start + 1, i, offFocus}))+1 >= size {
			for j := start; j < i; j++ {
				keep[j] = between
			}
		}
	}
}
