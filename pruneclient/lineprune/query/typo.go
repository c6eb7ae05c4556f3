package query

import (
	"mcp-pruner/pruneclient/lineprune/tuning"
	"mcp-pruner/pruneclient/lineprune/words"
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
		if !hit[g] && s.q.isWhole(word) && len(joined(word)) >= tuning.MinTypo {
			out = append(out, typo{joined(word), "", int16(g)})
			continue
		}
		if hit[g] || group.Bits == 0 || group.Weight < 1 || len(word) < tuning.MinTypo || words.BitsOf(word) < tuning.RareBits || !plainWord(word) {
			continue
		}
		out = append(out, typo{word, words.StemOf(word), int16(g)})
	}
	return out
}

func plainWord(w string) bool {
	for i := range len(w) {
		if words.Class[w[i]] != words.Lower {
			return false
		}
	}
	return true
}

// findTypos finds words of the text that are one typing error away from a word that mayBeTypos returns. It
// takes a second pass over the text, which is skipped when there are no such words.
func (s *scanner) findTypos() {
	typos := s.mayBeTypos()
	if len(typos) == 0 {
		return
	}
	var initials [256]bool
	for _, t := range typos {
		initials[t.name[0]] = true
	}
	left := tuning.TypoBytes
	for i := range s.d.Lines {
		line := s.d.Scanned(i)
		if left -= len(line); left < 0 {
			return
		}
		s.line = int32(i)
		s.typosOn(line[:min(len(line), tuning.ScoredPrefix)], s.d.ContentAt(i), &initials, typos)
	}
}

func (s *scanner) typosOn(line string, content int, initials *[256]bool, typos []typo) {
	for i := content; i < len(line); {
		if !words.InWord(words.Class[line[i]]) {
			i++
			continue
		}
		start := i
		for ; i < len(line) && words.InWord(words.Class[line[i]]); i++ {
		}
		if i-start+1 < tuning.MinTypo || i-start > len(s.buf) {
			continue
		}
		s.at = uint16(start)
		if whole := line[start:i]; initials[whole[0]|0x20] && len(typos) > 0 {
			s.wholeTypo(whole, typos)
		}
		words.EachPart(line[start:i], func(part string) {
			if len(part)+1 >= tuning.MinTypo && initials[part[0]|0x20] {
				s.typo(words.Lowered(s.buf[:0], part), typos)
			}
		})
	}
}

// typo records a word of the text as a hit for every misspelt word it may stand for.
func (s *scanner) typo(word []byte, typos []typo) {
	for _, t := range typos {
		if t.stem == "" { // a whole identifier
			continue
		}
		if oneSlip(t.name, string(word)) {
			s.hits = append(s.hits, Hit{s.line, t.group, s.at, tuning.TypoWeight})
			continue
		}
		var buf [64]byte
		if stem := words.Stem(append(buf[:0], word...)); len(stem) >= tuning.MinTypo && oneSlip(t.stem, string(stem)) {
			s.hits = append(s.hits, Hit{s.line, t.group, s.at, tuning.TypoWeight})
		}
	}
}

// wholeTypo records an identifier of the text as a hit for every misspelt identifier it may stand for.
func (s *scanner) wholeTypo(id string, typos []typo) {
	for _, t := range typos {
		if t.stem == "" && len(id)+1 >= len(t.name) && oneSlip(t.name, joined(id)) {
			s.hits = append(s.hits, Hit{s.line, t.group, s.at, tuning.TypoWeight})
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
