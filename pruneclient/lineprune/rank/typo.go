package rank

import (
	"sync"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/doc"
)

// typo is a word of the question that may be misspelt: it is not a common word, and neither the word nor a
// form of it occurs in the text.
type typo struct {
	name, stem string
	group      int16
}

// mayBeTypos returns the words of the question that have no hit and are not known from any source file.
func (s *scanner) mayBeTypos() []typo {
	hit := make([]bool, len(s.q.Groups))
	for _, h := range s.hits {
		hit[h.Group] = true
	}
	var out []typo
	for g, group := range s.q.Groups {
		word := group.Name
		if !hit[g] && len(s.q.wholes[joined(word)]) > 0 && len(joined(word)) >= doc.MinTypo {
			out = append(out, typo{joined(word), "", int16(g)})
			continue
		}
		if hit[g] || group.Bits == 0 || group.Weight < 1 || len(word) < doc.MinTypo || doc.BitsOf(word) < doc.RareBits || !plainWord(word) {
			continue
		}
		out = append(out, typo{word, doc.StemOf(word), int16(g)})
	}
	return out
}

func plainWord(w string) bool {
	for i := range len(w) {
		if doc.ByteClass[w[i]] != doc.Lower {
			return false
		}
	}
	return true
}

// spoken are the longer words that questions have whatever they ask about.
var spoken = sync.OnceValue(func() (list []string) {
	for _, section := range []string{"stop", "weak", "talk"} {
		for _, w := range doc.ListWords("english", section) {
			if len(w)+1 >= doc.MinTalkTypo {
				list = append(list, w)
			}
		}
	}
	return list
})

// withoutTypo returns the word of every question that a misspelt word stands for, or the word itself.
// Otherwise the misspelt one would count as a rare word that the text does not have.
func withoutTypo(w string) string {
	_, listed := wordWeight()[w]
	if len(w) < doc.MinTalkTypo || listed || questionTalk()[doc.StemOf(w)] || doc.BitsOf(w) < doc.RareBits || !plainWord(w) {
		return w
	}
	for _, s := range spoken() {
		if oneSlip(w, s) && doc.StemOf(w) != doc.StemOf(s) { // else it is another form
			return s
		}
	}
	return w
}

// typos are the words of a question that may be misspelt.
type typos struct {
	words []typo
	bytes [256]byte // words.Bit, and mayBegin where a misspelt word begins with it
	known memo      // words of the text with the groups that they may be meant for
}

// mayBegin marks the bytes that a misspelt word may begin with.
const mayBegin = 1

func typosOf(list []typo) *typos {
	t := &typos{words: list, bytes: doc.ByteBit}
	for _, w := range list {
		for c := range t.bytes {
			if byte(c)|0x20 == w.name[0] && t.bytes[c] != 0 {
				t.bytes[c] |= mayBegin
			}
		}
	}
	return t
}

// findTypos finds words of the text that are one typing error away from a word that mayBeTypos returns. It
// takes a second pass over the text, which is skipped when there are no such words.
func (s *scanner) findTypos() {
	list := s.mayBeTypos()
	if len(list) == 0 {
		return
	}
	t, left := typosOf(list), doc.TypoBytes
	for i := range s.d.Lines {
		line := s.d.Scanned(i)
		if left -= len(line); left < 0 {
			return
		}
		s.line = int32(i)
		s.typosOn(line[:min(len(line), doc.ScoredPrefix)], s.d.ContentAt(i), t)
	}
}

func (s *scanner) typosOn(line string, content int, t *typos) {
	lookUp := func(w string) { s.lookUpTypos(w, t) }
	for i := content; i < len(line); {
		seen := t.bytes[line[i]]
		if seen == 0 {
			i++
			continue
		}
		start := i
		for i++; i < len(line) && t.bytes[line[i]] != 0; i++ {
			seen |= t.bytes[line[i]]
		}
		if seen&mayBegin == 0 || i-start+1 < doc.MinTypo || i-start > len(s.buf) {
			continue
		}
		s.at = uint16(start)
		s.record(t.known.of(line[start:i], s, lookUp))
	}
}

// begins reports whether a word begins like one that may be misspelt.
func (t *typos) begins(w string) bool { return t.bytes[w[0]]&mayBegin != 0 }

// lookUpTypos finds the groups that an identifier of the text, or a part of it, may be meant for.
func (s *scanner) lookUpTypos(w string, t *typos) {
	if t.begins(w) {
		s.wholeTypo(w, t.words)
	}
	doc.EachPart(w, func(part string) {
		if len(part)+1 >= doc.MinTypo && t.begins(part) {
			s.typo(doc.Lowered(s.buf[:0], part), t.words)
		}
	})
}

// typo finds the misspelt words that a word of the text may stand for.
func (s *scanner) typo(word []byte, typos []typo) {
	for _, t := range typos {
		if t.stem == "" { // a whole identifier
			continue
		}
		if oneSlip(t.name, string(word)) {
			s.found = append(s.found, ref{t.group, doc.TypoWeight})
			continue
		}
		var buf [64]byte
		if stem := doc.Stem(append(buf[:0], word...)); len(stem) >= doc.MinTypo && oneSlip(t.stem, string(stem)) {
			s.found = append(s.found, ref{t.group, doc.TypoWeight})
		}
	}
}

// wholeTypo finds the misspelt identifiers that an identifier of the text may stand for.
func (s *scanner) wholeTypo(id string, typos []typo) {
	for _, t := range typos {
		if t.stem == "" && len(id)+1 >= len(t.name) && oneSlip(t.name, joined(id)) {
			s.found = append(s.found, ref{t.group, doc.TypoWeight})
		}
	}
}

// oneSlip reports whether a and b begin alike and differ by one typing error: one letter inserted, omitted
// or replaced, or two adjacent letters swapped.
func oneSlip(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(b)-len(a) > 1 || a == "" || a[0] != b[0] {
		return false
	}
	i := 0
	for i < len(a) && a[i] == b[i] {
		i++
	}
	switch {
	case i == len(a):
		return len(b) > len(a)
	case len(a) < len(b):
		return a[i:] == b[i+1:]
	case a[i+1:] == b[i+1:]:
		return true
	}
	return i+1 < len(a) && a[i] == b[i+1] && a[i+1] == b[i] && a[i+2:] == b[i+2:]
}
