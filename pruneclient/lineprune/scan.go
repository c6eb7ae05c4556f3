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
	at   uint16
	hits []hit
	buf  [64]byte
}

// match finds the question's words in the document and counts its tokens.
func (d *document) match(ctx context.Context, text string, q *question) error {
	s := &scanner{q: q, d: d, hits: make([]hit, 0, len(d.lines))}
	for i := range d.lines {
		if i%checkEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		s.line = int32(i)
		n := s.scanLine(d.scanned(i), d.contentAt(i))
		if d.escapes != nil {
			n += int(d.escapes[i])
		}
		d.tokens[i] = int32(n)
		d.total += n
	}
	s.findLiterals(text)
	d.hits = s.hits
	d.pathHits = s.matchPaths()
	return nil
}

// matchPaths finds the question's words in the paths of a list of matches, once
// per file, at the file's first line.
func (s *scanner) matchPaths() []hit {
	s.hits = nil
	for i, p := range s.d.places {
		if i == 0 || p.path != s.d.places[i-1].path {
			s.line = int32(i)
			s.scanLine(p.path, 0)
		}
	}
	return s.hits
}

// scanLine counts a line's tokens and records the question's words from byte
// content on.
func (s *scanner) scanLine(line string, content int) int {
	tokens, rare, filter := 1, false, &s.q.filter
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
			start, seen := i, byte(0)
			for ; i < len(line) && wordClass(class[line[i]]); i++ {
				seen |= 1 << class[line[i]]
			}
			tokens++
			if w := line[start:i]; len(w) > 1 && start >= content && start < scoredPrefix {
				s.at = uint16(start)
				// Most words are one part, and the filter has no use for them.
				if seen&(seen-1) != 0 || filter.passes(w) {
					s.word(w, seen)
				}
			}
		}
	}
	if rare && s.q.unicode {
		s.at = 0
		eachRuneWord(line[:min(len(line), scoredPrefix)], s.unicodeWord)
	}
	return tokens
}

// word matches an identifier: its parts, and all of it. seen has a bit for every
// class of its bytes; most words are of one, and one part.
func (s *scanner) word(w string, seen byte) {
	if len(w) > 200 {
		return
	}
	if seen&(seen-1) == 0 && seen != 1<<underscore {
		s.part(w)
	} else {
		eachPart(w, s.part)
	}
	if len(s.q.wholes) > 0 && s.q.filter.passes(w) {
		s.record(s.q.wholes[joined(w)])
	}
}

// part looks one part of an identifier up by its stem.
func (s *scanner) part(p string) {
	if len(p) < 2 || len(p) > len(s.buf) || !s.q.filter.passes(p) {
		return
	}
	w := stem(lowered(s.buf[:0], p))
	if refs, known := s.q.stems[string(w)]; known {
		s.record(refs)
	} else if r, ok := s.q.like(w); ok {
		s.hits = append(s.hits, hit{s.line, r.group, s.at, r.weight})
	}
}

func (s *scanner) unicodeWord(w string) { s.record(s.q.stems[w]) }

func (s *scanner) record(refs []ref) {
	for _, r := range refs {
		s.hits = append(s.hits, hit{s.line, r.group, s.at, r.weight})
	}
}

// findLiterals looks for the question's paths, versions and quotes in the text as
// a whole, then puts the hits back into line order.
func (s *scanner) findLiterals(text string) {
	before := len(s.hits)
	for _, l := range s.q.literals[:min(len(s.q.literals), 8)] {
		s.findLiteral(text, l)
	}
	if len(s.hits) > before {
		sort.SliceStable(s.hits, func(a, b int) bool { return s.hits[a].line < s.hits[b].line })
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
		s.hits = append(s.hits, hit{line, l.group, 0, 1})
		next := strings.IndexByte(text[from:], '\n')
		if next < 0 {
			return
		}
		from += next + 1
		line++
	}
}
