package doc

// WordFilter is a bitmap of three-letter prefixes, like a Bloom filter: it rejects nearly every word of a text
// with a single memory access, and never one that matters.
type WordFilter [1 << 15 / 64]uint64

func WordKey(w string) uint {
	k := uint(w[0]&31)<<10 | uint(w[1]&31)<<5
	if len(w) > 2 {
		k |= uint(w[2] & 31)
	}
	return k
}

// Add adds stem w and its inflections. Only a final y changes a letter (flies is a form of fly).
func (f *WordFilter) Add(w string) {
	if len(w) < 2 {
		return
	}
	f.set(WordKey(w))
	if len(w) == 3 && w[2] == 'y' {
		f.set(WordKey(w[:2] + "i"))
	}
}

func (f *WordFilter) set(k uint) { f[k>>6] |= 1 << (k & 63) }

// Passes reports whether w may be an inflection of an added stem. w has at least two letters.
func (f *WordFilter) Passes(w string) bool {
	k := WordKey(w)
	return f[k>>6]>>(k&63)&1 != 0
}
