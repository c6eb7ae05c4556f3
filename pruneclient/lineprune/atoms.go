package lineprune

// atoms are the stretches that are kept whole or not at all: a page's fenced
// blocks, a log's entries about trouble. nil when the text has none.
func (p *pruning) atoms() []span {
	switch p.kind {
	case Docs:
		return p.fences()
	case Logs:
		return p.troubledEntries()
	}
	return nil
}

// fences are the fenced blocks; one larger than all that may be kept is taken line
// by line.
func (p *pruning) fences() []span {
	atoms := make([]span, len(p.d.lines))
	fence, start := "", 0
	for i, line := range p.d.lines {
		next := fenceAfter(fence, line)
		switch {
		case fence == "" && next != "":
			start = i
		case fence != "" && next == "":
			p.bind(atoms, start, i+1)
		}
		fence = next
	}
	return atoms
}

// bind makes lines start..end-1 one atom, unless a budget could never hold it.
func (p *pruning) bind(atoms []span, start, end int) {
	if p.budgeted() && float64(p.d.tokensOf(start, end)) > p.opts.Budget*float64(p.d.total)/2 {
		return
	}
	for i := start; i < end; i++ {
		atoms[i] = span{int32(start), int32(end)}
	}
}

func (p *pruning) troubledEntries() []span {
	atoms := make([]span, len(p.d.lines))
	if p.budgeted() {
		return atoms
	}
	for u, unit := range p.outline.units {
		if p.relevance.alarmed[u] {
			p.bind(atoms, unit.start, unit.end)
		}
	}
	return atoms
}
