package learned

// occurrence is one occurrence of a session's term in the text.
type occurrence struct {
	line int32
	id   int32
}

// matches holds the occurrences of the session's terms in the text.
type matches struct {
	v     *vocabulary
	found []occurrence // in line order; each term at most once per line
	rare  []int32      // per term, rarity in 16ths of a bit
	seen  []bool       // per term, whether it occurs
}

func newMatches(v *vocabulary, shapes []shape) *matches {
	m := &matches{v: v, rare: make([]int32, len(v.weight)), seen: make([]bool, len(v.weight))}
	last, df := make([]int32, len(v.weight)), make([]int, len(v.weight))
	for i := range shapes {
		eachTerm(shapes[i].content, func(t term, _ bool) {
			if id, ok := v.id[t]; ok && last[id] != int32(i+1) {
				last[id] = int32(i + 1)
				df[id]++
				m.found = append(m.found, occurrence{int32(i), id})
			}
		})
	}
	for id, n := range df {
		m.seen[id] = n > 0
		m.rare[id] = log16((2*len(shapes)+2)/(2*n+1) + 1)
	}
	return m
}

// fill computes the features of source s for every line.
func (m *matches) fill(t *table, s source, shapes []shape) {
	own, best := make([]int32, t.n), make([]int32, t.n)
	for _, o := range m.found {
		if w := int32(m.v.weight[o.id][s]); w > 0 {
			bits := m.rare[o.id] * w / 16
			own[o.line] += bits
			best[o.line] = max(best[o.line], bits)
		}
	}
	first := int(s) * perSource
	heads, _ := blocksOf(shapes)
	blockSum := make([]int32, len(heads))
	for i := range own {
		blockSum[shapes[i].block] += own[i]
	}
	peak := highest(own)
	near := [2][]int32{window(own, 2), window(own, 10)}
	peaks := [3]int32{highest(near[0]), highest(near[1]), highest(blockSum)}
	for i := range own {
		r := t.row(i)[first : first+perSource]
		b := shapes[i].block
		r[fOwn], r[fBest] = own[i], best[i]
		r[fShare] = share(own[i], peak)
		r[fClose], r[fAround] = share(near[0][i], peaks[0]), share(near[1][i], peaks[1])
		r[fBlock], r[fHead] = share(blockSum[b], peaks[2]), own[heads[b]]
	}
	m.summary(t, s, peak)
}

// summary fills the features of how well the whole text matches the source.
func (m *matches) summary(t *table, s source, peak int32) {
	found := int32(0)
	for id, seen := range m.seen {
		if seen && m.v.weight[id][s] > 0 {
			found++
		}
	}
	first := int(sources)*perSource + int(s)*perText
	for i := range t.n {
		r := t.row(i)[first : first+perText]
		r[0], r[1], r[2] = min(m.v.count[s], 1000), found, peak
	}
}

func share(v, of int32) int32 {
	if of == 0 {
		return 0
	}
	return int32(int64(v) * 256 / int64(of))
}

func highest(values []int32) int32 {
	top := int32(0)
	for _, v := range values {
		top = max(top, v)
	}
	return top
}

// window returns for every line the weighted sum of own over the lines at most reach away. Nearer lines
// weigh more.
func window(own []int32, reach int) []int32 {
	out := make([]int32, len(own))
	for i, v := range own {
		if v == 0 {
			continue
		}
		for j := max(i-reach, 0); j <= min(i+reach, len(own)-1); j++ {
			d := i - j
			if d < 0 {
				d = -d
			}
			out[j] += v * int32(reach+1-d)
		}
	}
	return out
}
