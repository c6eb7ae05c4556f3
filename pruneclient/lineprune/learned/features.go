package learned

import (
	"path"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/session"
)

// The features of a line, in the order of its row. The features of a source are repeated for every source.
const (
	fOwn    = iota // sum of the rarity of the source's terms on the line
	fBest          // rarity of the rarest of them
	fShare         // fOwn as a fraction of the text's best line
	fClose         // the same within two lines
	fAround        // the same within ten lines
	fBlock         // the same over the line's block
	fHead          // fOwn of the block's first line
	perSource
)

const perText = 3 // per source: terms, how many occur in the text, rarity of the text's best line

const fromLines = int(sources) * (perSource + perText)

// The features derived from the line, the text and the request.
const (
	fRule      = fromLines + iota // the rules' score as a fraction of the text's best
	fRuleClose                    // the best rules' score within three lines
	fRuleRank                     // fraction of the lines that the rules rank higher
	fIndent
	fWhat
	fWhatAbove
	fWhatBelow
	fTokens
	fBlockLines
	fFromHead
	fHeadWhat
	fPosition
	fFromStart
	fFromEnd
	fCopies
	fNumberNear // distance in lines to the nearest line number that the session named
	fNumberAge  // events since that number was named
	fPlaceAge   // events since the line's path:line was named
	fFileAge    // events since the line's file was named
	fSaid       // the line occurs verbatim in a message
	fEdited     // the line occurs verbatim in an edit
	fShown      // the line occurs verbatim in an output
	fNearSaid   // distance in lines to the nearest line with fSaid
	fNearEdited
	fShownAround // fraction of the surrounding lines that were already shown
	fPathHits
	fPathFirst
	fPathTest
	fNewPath
	fKind
	fTool
	fVerb
	fLines
	fAllTokens
	fEvents
	fSinceEdit
	fAskedLength
	fRanged
	fTerms   // number of distinct words on the line
	fNovel   // how many of them the session has not seen
	fNovelID // how many of those are identifiers of several parts
	fNovelAround
	features
)

// table holds a text's features, one row per line.
type table struct {
	rows []int32
	n    int
}

func (t *table) row(i int) []int32 { return t.rows[i*features : (i+1)*features] }

// tableOf computes every feature of every line.
func tableOf(in *Input) *table {
	n := len(in.Lines)
	t := &table{rows: make([]int32, n*features), n: n}
	v, m, shapes := newVocabulary(in), newMentions(in), shapesOf(in)
	w := newMatches(v, shapes)
	for s := range sources {
		w.fill(t, s, shapes)
	}
	t.rules(in)
	t.shapes(in, shapes)
	t.places(in, shapes, m)
	t.verbatim(shapes, m)
	t.request(in)
	t.novel(v, shapes)
	return t
}

// rules fills the features derived from the hand-written rules.
func (t *table) rules(in *Input) {
	best := 0.0
	for _, s := range in.Relevant {
		best = max(best, s)
	}
	share := make([]int32, t.n)
	var count [257]int32
	for i := range share {
		if best > 0 && i < len(in.Relevant) {
			share[i] = int32(in.Relevant[i] / best * 256)
		}
		count[share[i]]++
	}
	before := int32(0)
	for k := 256; k >= 0; k-- {
		count[k], before = before, before+count[k]
	}
	for i := range share {
		near := int32(0)
		for j := max(i-3, 0); j < min(i+4, t.n); j++ {
			near = max(near, share[j])
		}
		r := t.row(i)
		r[fRule], r[fRuleClose], r[fRuleRank] = share[i], near, count[share[i]]*256/int32(t.n)
	}
}

// shapes fills the features of structure and position.
func (t *table) shapes(in *Input, shapes []shape) {
	heads, sizes := blocksOf(shapes)
	for i := range shapes {
		s, r := &shapes[i], t.row(i)
		r[fIndent], r[fWhat], r[fCopies] = s.indent, s.what, min(s.copies, 50)
		r[fWhatAbove], r[fWhatBelow] = blank, blank
		if i > 0 {
			r[fWhatAbove] = shapes[i-1].what
		}
		if i+1 < t.n {
			r[fWhatBelow] = shapes[i+1].what
		}
		r[fTokens] = min(in.Tokens[i], 200)
		head := heads[s.block]
		r[fBlockLines], r[fFromHead], r[fHeadWhat] = log16(int(sizes[s.block])), min(int32(i)-head, 200), shapes[head].what
		r[fPosition] = int32(i * 256 / t.n)
		r[fFromStart], r[fFromEnd] = min(int32(i), 300), min(int32(t.n-1-i), 300)
	}
}

func blocksOf(shapes []shape) (heads, sizes []int32) {
	for i := range shapes {
		if b := int(shapes[i].block); b == len(heads) {
			heads, sizes = append(heads, int32(i)), append(sizes, 1)
		} else {
			sizes[b]++
		}
	}
	return heads, sizes
}

const never = 400 // lines or events: the value for "never"

// places fills the features of line numbers and files that the session named.
func (t *table) places(in *Input, shapes []shape, m *mentions) {
	near, age := nearestNumbers(shapes, m)
	hits := map[string]int32{}
	for i := range shapes {
		hits[shapes[i].path]++
	}
	for i := range shapes {
		s, r := &shapes[i], t.row(i)
		r[fNumberNear], r[fNumberAge] = near[i], age[i]
		r[fPlaceAge], r[fFileAge] = never, never
		file := s.path
		if file == "" {
			file = in.File
		}
		if file != "" {
			base := path.Base(file)
			if a, ok := m.files[base]; ok {
				r[fFileAge] = a
			}
			if s.number > 0 && len(m.places) > 0 {
				if a, ok := m.places[placeKey(base, s.number)]; ok {
					r[fPlaceAge] = a
				}
			}
		}
		if s.path != "" {
			r[fPathHits] = min(hits[s.path], 100)
			if i == 0 || shapes[i-1].path != s.path {
				r[fPathFirst] = 1
			}
		}
		if file != "" && isTest(file) {
			r[fPathTest] = 1
		}
		r[fNewPath] = int32(min(len(hits), 100))
	}
}

// nearestNumbers returns, per line, the distance to the nearest line whose number was named (positive when
// this line is after it), and the number of events since.
func nearestNumbers(shapes []shape, m *mentions) (near, age []int32) {
	near, age = make([]int32, len(shapes)), make([]int32, len(shapes))
	for i := range near {
		near[i], age[i] = never, never
	}
	if len(m.numbers) == 0 {
		return near, age
	}
	last, lastAge := -never, int32(never)
	for i := range shapes {
		if a, ok := m.numbers[shapes[i].number]; ok && shapes[i].number > 0 {
			last, lastAge = i, a
		}
		if i-last < never {
			near[i], age[i] = int32(i-last), lastAge
		}
	}
	last = never + len(shapes)
	for i := len(shapes) - 1; i >= 0; i-- {
		if a, ok := m.numbers[shapes[i].number]; ok && shapes[i].number > 0 {
			last, lastAge = i, a
		}
		if d := int32(last - i); d < near[i] && d < never {
			near[i], age[i] = -d, lastAge
		}
	}
	return near, age
}

// verbatim fills the features of lines that occur word for word in the session.
func (t *table) verbatim(shapes []shape, m *mentions) {
	columns := [3]int{fSaid, fEdited, fShown}
	for i := range shapes {
		text := strings.TrimSpace(shapes[i].content)
		if len(text) < shortestVerbatim {
			continue
		}
		h, r := longHash(text), t.row(i)
		for k, c := range columns {
			if m.verbat[k][h] {
				r[c] = 1
			}
		}
	}
	t.distance(fSaid, fNearSaid)
	t.distance(fEdited, fNearEdited)
	shown := make([]int32, t.n+1)
	for i := range t.n {
		shown[i+1] = shown[i] + t.row(i)[fShown]
	}
	for i := range t.n {
		a, b := max(i-5, 0), min(i+6, t.n)
		t.row(i)[fShownAround] = (shown[b] - shown[a]) * 256 / int32(b-a)
	}
}

// distance fills a column with the number of lines to the nearest line whose feature has is set.
func (t *table) distance(has, column int) {
	last := -never
	for i := range t.n {
		if t.row(i)[has] != 0 {
			last = i
		}
		t.row(i)[column] = int32(min(i-last, never))
	}
	last = t.n + never
	for i := t.n - 1; i >= 0; i-- {
		if t.row(i)[has] != 0 {
			last = i
		}
		t.row(i)[column] = min(t.row(i)[column], int32(last-i))
	}
}

// request fills the features that are equal for all lines.
func (t *table) request(in *Input) {
	all, since := 0, int32(never)
	for _, k := range in.Tokens {
		all += int(k)
	}
	for i, e := range in.Events {
		if e.Kind == session.Edit {
			since = int32(i)
			break
		}
	}
	ranged := int32(0)
	if in.FirstLine > 1 {
		ranged = 1
	}
	tool, verb := toolOf(in), verbOf(in.Command)
	for i := range t.n {
		r := t.row(i)
		r[fKind], r[fTool], r[fVerb] = int32(in.Kind), tool, verb
		r[fLines], r[fAllTokens] = log16(t.n), log16(all)
		r[fEvents], r[fSinceEdit] = int32(min(len(in.Events), maxEvents)), since
		r[fAskedLength], r[fRanged] = log16(len(in.Question)), ranged
	}
}

const (
	unknownTool int32 = iota
	readTool
	commandTool
	searchTool
)

func toolOf(in *Input) int32 {
	switch {
	case in.Command != "":
		return commandTool
	case in.Kind == Grep || in.Pattern != "":
		return searchTool
	case in.File != "":
		return readTool
	}
	return unknownTool
}

var verbs = map[string]int32{"cat": 1, "sed": 2, "head": 2, "tail": 2, "nl": 1, "grep": 3, "rg": 3, "find": 4, "ls": 4, "git": 5,
	"python": 6, "python3": 6, "pytest": 7, "go": 8, "make": 8, "npm": 8}

// verbOf returns the main action of a shell command.
func verbOf(command string) int32 {
	for len(command) > 0 {
		command = strings.TrimLeft(command, " \n\t")
		word := command
		if cut := strings.IndexAny(command, " \n\t|;&"); cut >= 0 {
			word = command[:cut]
		}
		if v, ok := verbs[path.Base(word)]; ok {
			return v
		}
		if _, command, _ = strings.Cut(command, "&&"); word != "cd" {
			break
		}
	}
	return 0
}

// novel fills the features of words that the session has not seen before.
func (t *table) novel(v *vocabulary, shapes []shape) {
	for i := range shapes {
		r := t.row(i)
		eachTerm(shapes[i].content, func(k term, compound bool) {
			r[fTerms]++
			if _, known := v.id[k]; !known {
				r[fNovel]++
				if compound {
					r[fNovelID]++
				}
			}
		})
	}
	for i := range shapes {
		sum := int32(0)
		for j := max(i-3, 0); j < min(i+4, t.n); j++ {
			sum += t.row(j)[fNovel]
		}
		t.row(i)[fNovelAround] = sum
	}
}
