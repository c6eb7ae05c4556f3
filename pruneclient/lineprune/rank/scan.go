package rank

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/doc"
)

// Hit is one occurrence of a term of the question.
type Hit struct {
	Line   int32
	Group  int16
	At     uint16  // byte offset in the line at which its word begins
	Weight float32 // 1 for the word itself, less for a form or a synonym
}

// matches holds the occurrences of a question's terms in a text.
type matches struct {
	Hits     []Hit // in line order
	PathHits []Hit // in the paths of a list of matches; each is recorded at its file's first line
}

// Add records an occurrence of a group on each of the given lines.
func (m *matches) Add(group int16, lines []int) {
	for _, line := range lines {
		m.Hits = append(m.Hits, Hit{Line: int32(line), Group: group, Weight: 1})
	}
	slices.SortStableFunc(m.Hits, byLine)
}

func byLine(a, b Hit) int { return cmp.Compare(a.Line, b.Line) }

// scanner matches a text against a question in one pass over its bytes.
type scanner struct {
	q     *Question
	d     *doc.Document
	line  int32
	at    uint16
	hits  []Hit
	found []ref // groups of the word that is looked up
	buf   [64]byte
	known memo // words of the text with the groups they stand for
	parts memo // the same for parts of words, which repeat in words that are new, such as TestCase1 and TestCase2
}

// memo holds the result of looking up recent words, because most words of a text repeat. Each word has one
// possible place, where it replaces another one.
type memo [1 << memoBits]meaning

// meaning is a word with the groups that it stands for.
type meaning struct {
	word string
	refs []ref
}

const memoBits = 9

// of returns the refs of a word of at least two letters, which lookUp appends to s.found.
func (m *memo) of(w string, s *scanner, lookUp func(w string)) []ref {
	known := m.place(w)
	if known.word != w {
		s.found = s.found[len(s.found):]
		lookUp(w)
		known.word, known.refs = w, s.found
	}
	return known.refs
}

// place returns the place of a word of at least two letters.
func (m *memo) place(w string) *meaning {
	n := len(w)
	h := uint32(w[0]) | uint32(w[1])<<8 | uint32(w[n-1])<<16 | uint32(w[n-2])<<24
	h = (h ^ uint32(w[n/2])<<12 ^ uint32(n)<<6) * 2654435769 // Knuth's multiplicative hash
	return &m[h>>(32-memoBits)]
}

// Match finds the question's terms in the document d of text. It also counts the document's tokens, because
// that needs the same pass over the bytes. It returns ctx's error once ctx is done.
func Match(ctx context.Context, d *doc.Document, text string, q *Question) (matches, error) {
	s := &scanner{q: q, d: d, hits: make([]Hit, 0, len(d.Lines))}
	for i := range d.Lines {
		if i%doc.CheckEvery == 0 && ctx.Err() != nil {
			return matches{}, ctx.Err()
		}
		s.line = int32(i)
		n := s.scanLine(d.Scanned(i), d.ContentAt(i))
		if d.Escapes != nil {
			n += int(d.Escapes[i])
		}
		d.Tokens[i] = int32(n)
		d.Total += n
	}
	before := len(s.hits)
	s.findTypos()
	s.findLiterals(text)
	if len(s.hits) > before { // restore line order
		slices.SortStableFunc(s.hits, byLine)
	}
	m := matches{Hits: s.hits}
	m.PathHits = s.matchPaths()
	return m, nil
}

// matchPaths finds the question's terms in the paths of a list of matches, once per file, at the file's
// first line.
func (s *scanner) matchPaths() []Hit {
	s.hits = nil
	for i, p := range s.d.Places {
		if i == 0 || p.Path != s.d.Places[i-1].Path {
			s.line = int32(i)
			s.scanLine(p.Path, 0)
		}
	}
	return s.hits
}

// scanLine counts a line's tokens and records the question's terms from byte offset content on. It returns
// the number of tokens.
func (s *scanner) scanLine(line string, content int) int {
	tokens, rare, filter := 1, false, &s.q.Filter
	for i := 0; i < len(line); {
		switch c := doc.ByteClass[line[i]]; {
		case c == doc.Space:
			i++
		case c == doc.OtherByte:
			i++
			tokens++
		case c == doc.HighByte:
			rare = true
			if utf8.RuneStart(line[i]) {
				tokens++
			}
			i++
		default:
			start, seen := i, doc.ByteBit[line[i]]
			for i++; i < len(line) && doc.ByteBit[line[i]] != 0; i++ {
				seen |= doc.ByteBit[line[i]]
			}
			tokens++
			if w := line[start:i]; len(w) > 1 && start >= content && start < doc.ScoredPrefix {
				s.at = uint16(start)
				// Most words have a single part, and most fail the filter.
				if seen&(seen-1) != 0 || filter.Passes(w) {
					s.word(w)
				}
			}
		}
	}
	if rare && s.q.unicode {
		s.at = 0
		doc.EachRuneWord(line[:min(len(line), doc.ScoredPrefix)], func(w string) { s.record(s.q.Stems[w]) })
	}
	return tokens
}

// word matches an identifier by its parts and as a whole.
func (s *scanner) word(w string) {
	if len(w) <= 200 {
		s.record(s.known.of(w, s, s.lookUp))
	}
}

// lookUp finds the groups that an identifier stands for.
func (s *scanner) lookUp(w string) {
	doc.EachPart(w, s.part)
	if len(s.q.wholes) > 0 && s.q.Filter.Passes(w) {
		s.found = append(s.found, s.q.wholes[joined(w)]...)
	}
}

// part looks up the stem of one part of an identifier.
func (s *scanner) part(p string) {
	if len(p) < 2 || len(p) > len(s.buf) || !s.q.Filter.Passes(p) {
		return
	}
	m := s.parts.place(p)
	if m.word != p {
		m.word, m.refs = p, s.refsOf(p)
	}
	s.found = append(s.found, m.refs...)
}

// refsOf returns the groups that a part of an identifier stands for.
func (s *scanner) refsOf(part string) []ref {
	w := doc.Stem(doc.Lowered(s.buf[:0], part))
	if refs, known := s.q.Stems[string(w)]; known {
		return refs
	}
	if r, ok := s.q.like(w); ok {
		return []ref{r}
	}
	return nil
}

func (s *scanner) record(refs []ref) {
	for _, r := range refs {
		s.hits = append(s.hits, Hit{s.line, r.Group, s.at, r.Weight})
	}
}

// findLiterals finds the question's paths, versions and quoted phrases in the whole text.
func (s *scanner) findLiterals(text string) {
	for _, l := range s.q.literals[:min(len(s.q.literals), 8)] {
		s.findLiteral(text, l)
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
		s.hits = append(s.hits, Hit{line, l.group, 0, 1})
		next := strings.IndexByte(text[from:], '\n')
		if next < 0 {
			return
		}
		from += next + 1
		line++
	}
}
