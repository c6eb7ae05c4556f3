package lineprune

import (
	"context"
	"sort"
	"strings"
	"unicode/utf8"
)

// checkEvery is how many lines are scored between two looks at the context.
const checkEvery = 2048

// scanner matches a text against a question in one pass over its bytes.
type scanner struct {
	q    *question
	d    *document
	line int32
	buf  [64]byte
}

func scan(ctx context.Context, text string, q *question) (*document, error) {
	lines := splitLines(text)
	d := &document{lines: lines, tokens: make([]int32, len(lines)), indent: make([]int16, len(lines))}
	s := &scanner{q: q, d: d}
	for i, line := range lines {
		if i%checkEvery == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		s.line = int32(i)
		d.indent[i] = indentOf(line)
		n := s.scanLine(line)
		d.tokens[i] = int32(n)
		d.total += n
	}
	s.findLiterals(text)
	return d, nil
}

// scanLine counts a line's tokens and records the question's words in it.
func (s *scanner) scanLine(line string) int {
	tokens, rare := 1, false
	for i := 0; i < len(line); {
		switch c := class[line[i]]; {
		case c == space:
			i++
		case c == other:
			i++
			tokens++
		case c == high:
			rare = true
			if utf8.RuneStart(line[i]) {
				tokens++
			}
			i++
		default:
			start := i
			for i++; i < len(line) && wordClass(class[line[i]]); i++ {
			}
			tokens++
			if start < scoredPrefix {
				s.word(line[start:i])
			}
		}
	}
	if rare && s.q.unicode {
		eachRuneWord(line[:min(len(line), scoredPrefix)], s.unicodeWord)
	}
	return tokens
}

func (s *scanner) word(w string) {
	if len(w) < 2 || len(w) > 200 {
		return
	}
	if eachPart(w, s.part) > 1 && len(s.q.wholes) > 0 && s.q.passes(w) {
		s.record(s.q.wholes[joined(w)])
		return
	}
	if len(s.q.wholes) > 0 && s.q.passes(w) {
		s.record(s.q.wholes[strings.ToLower(w)])
	}
}

// part looks one part of an identifier up by its stem.
func (s *scanner) part(p string) {
	if len(p) < 2 || len(p) > len(s.buf) || !s.q.passes(p) {
		return
	}
	w := s.buf[:len(p)]
	for i := range w {
		c := p[i]
		if class[c] == upper {
			c |= 0x20
		}
		w[i] = c
	}
	s.record(s.q.stems[string(stem(w))])
}

func (s *scanner) unicodeWord(w string) { s.record(s.q.stems[w]) }

func (s *scanner) record(refs []ref) {
	for _, r := range refs {
		s.d.hits = append(s.d.hits, hit{s.line, r.group, r.weight})
	}
}

// findLiterals looks for the question's paths, versions and quotes in the text as
// a whole, then puts the hits back into line order.
func (s *scanner) findLiterals(text string) {
	before := len(s.d.hits)
	for _, l := range s.q.literals[:min(len(s.q.literals), 8)] {
		s.findLiteral(text, l)
	}
	if len(s.d.hits) > before {
		sort.SliceStable(s.d.hits, func(a, b int) bool { return s.d.hits[a].line < s.d.hits[b].line })
	}
}

func (s *scanner) findLiteral(text string, l literal) {
	line, from := int32(0), 0
	for {
		at := strings.Index(text[from:], l.text)
		if at < 0 {
			return
		}
		line += int32(strings.Count(text[from:from+at], "\n"))
		from += at
		s.d.hits = append(s.d.hits, hit{line, l.group, 1})
		next := strings.IndexByte(text[from:], '\n')
		if next < 0 {
			return
		}
		from += next + 1
		line++
	}
}
