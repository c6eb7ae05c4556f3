package learned

import (
	"cmp"
	_ "embed"
	"fmt"
	"slices"
	"sync"

	"mcp-pruner/pruneclient/lineprune/learned/trees"
)

// CallFile and SessionFile are the embedded weights.
const (
	CallFile    = "weights-call.txt"
	SessionFile = "weights-session.txt"
)

//go:embed weights-call.txt
var callText string

//go:embed weights-session.txt
var sessionText string

// Weights are two forests: one for calls of which only the question and the arguments
// are known, one for calls within a session.
type Weights struct{ Call, Session *trees.Forest }

// Embedded returns the weights that come with the program, parsed when they are first
// needed. A test parses them, so that a program never fails here.
var Embedded = sync.OnceValue(func() *Weights {
	w, err := Parse(callText, sessionText)
	if err != nil {
		panic(err)
	}
	return w
})

// Parse reads the texts of both forests.
func Parse(call, session string) (*Weights, error) {
	c, err := trees.Parse(call, Names())
	if err != nil {
		return nil, err
	}
	s, err := trees.Parse(session, Names())
	return &Weights{c, s}, err
}

// MaxLines is the longest text that is ranked. Of longer ones the rules are asked
// alone: the trees look at every line 250 times.
const MaxLines = 2000

// Ranking is a text's lines with their scores, in 1024ths of a bit: a line of one bit
// more is twice as likely to be used, for its tokens.
type Ranking struct {
	Scores []int32

	in   *Input
	rows *table
	f    *trees.Forest
}

// Rank scores every line of a text.
func (w *Weights) Rank(in *Input) Ranking {
	f := w.Call
	if len(in.Events) > 0 {
		f = w.Session
	}
	r := Ranking{Scores: make([]int32, len(in.Lines)), in: in, rows: tableOf(in), f: f}
	for i := range r.Scores {
		r.Scores[i] = f.Score(r.rows.row(i))
	}
	return r
}

// Informed says whether the session was known.
func (r Ranking) Informed() bool { return len(r.in.Events) > 0 }

// Asked says whether the question was written for this text.
func (r Ranking) Asked() bool { return r.in.Asked }

// Careful says whether only what is hardly needed may go.
func (r Ranking) Careful() bool { return r.in.Careful }

// Boldness multiplies the price at which a line is kept.
func (r Ranking) Boldness() float64 { return cmp.Or(r.in.Boldness, 1) }

// OfFile says whether the text is a file's, not what a command or a search printed.
func (r Ranking) OfFile() bool { return toolOf(r.in) == readTool }

// Plan prepares a choice in which every omitted range costs a marker.
func (r Ranking) Plan(marker int) *Plan {
	return &Plan{Gain: gainOf(r.in, r.Scores), Tokens: r.in.Tokens, Marker: int32(marker)}
}

// Why says in words what speaks for a line: the parts of the score, of which the
// largest two that raise it are named.
func (r Ranking) Why(i int) string {
	row := slices.Clone(r.rows.row(i))
	type part struct {
		name string
		bits int32
	}
	var parts []part
	for _, g := range groups {
		was := slices.Clone(row)
		for f := range row {
			if g.has(f) {
				row[f] = r.typical(f)
			}
		}
		parts = append(parts, part{g.name, r.Scores[i] - r.f.Score(row)})
		row = was
	}
	slices.SortStableFunc(parts, func(a, b part) int { return int(b.bits) - int(a.bits) })
	switch {
	case parts[0].bits < trees.Bit/8:
		return "nothing speaks for it"
	case parts[1].bits < trees.Bit/8:
		return fmt.Sprintf("%s (+%s)", parts[0].name, inBits(parts[0].bits))
	}
	return fmt.Sprintf("%s (+%s), %s (+%s)", parts[0].name, inBits(parts[0].bits), parts[1].name, inBits(parts[1].bits))
}

// Bits is a score in bits.
func Bits(score int32) float64 { return float64(score) / trees.Bit }

// inBits writes 1024ths of a bit with one decimal.
func inBits(v int32) string {
	tenths := (v*10 + trees.Bit/2) / trees.Bit
	return fmt.Sprintf("%d.%d", tenths/10, tenths%10)
}

// typical is the median of a feature over the text's lines.
func (r Ranking) typical(feature int) int32 {
	values := make([]int32, r.rows.n)
	for i := range values {
		values[i] = r.rows.row(i)[feature]
	}
	slices.Sort(values)
	return values[len(values)/2]
}

// group is features that are explained together.
type group struct {
	name string
	has  func(feature int) bool
}

var groups = []group{
	{"words of the question", ofSource(asked)},
	{"words of the arguments", ofSource(called)},
	{"words said before", func(f int) bool {
		return ofSource(saidNow)(f) || ofSource(saidRecent)(f) || ofSource(saidBefore)(f)
	}},
	{"searched before", ofSource(searched)},
	{"words of edits", func(f int) bool { return ofSource(edited)(f) || ofSource(elsewhere)(f) }},
	{"known from the session", func(f int) bool { return ofSource(anything)(f) || ofSource(shown)(f) || ofSource(visited)(f) }},
	{"the question's rules", func(f int) bool { return f >= fRule && f <= fRuleRank }},
	{"line or file named before", func(f int) bool { return f >= fNumberNear && f <= fFileAge }},
	{"quoted, edited or shown before", func(f int) bool { return f >= fSaid && f <= fShownAround }},
	{"new to the session", func(f int) bool { return f >= fTerms && f <= fNovelAround }},
	{"what kind of line it is and where", func(f int) bool { return f >= fIndent && f <= fCopies }},
	{"its file among the matches", func(f int) bool { return f >= fPathHits && f <= fNewPath }},
}

// ofSource tells the features of a source.
func ofSource(s source) func(int) bool {
	return func(f int) bool {
		first := int(s) * perSource
		return f >= first && f < first+perSource
	}
}
