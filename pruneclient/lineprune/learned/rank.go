package learned

import (
	"cmp"
	_ "embed"
	"fmt"
	"slices"
	"sync"
)

// CallFile and SessionFile are the file names of the embedded weights.
const (
	CallFile    = "weights-call.txt"
	SessionFile = "weights-session.txt"
)

//go:embed weights-call.txt
var callText string

//go:embed weights-session.txt
var sessionText string

// Weights are two forests: Call for a call of which only the question and the arguments are known, Session
// for a call within a known session.
type Weights struct{ Call, Session *Forest }

// Embedded returns the weights embedded in the program, of which a call needs one forest: within a known session the one,
// else the other.
func Embedded(session bool) *Weights {
	if session {
		return &Weights{Session: embeddedSession()}
	}
	return &Weights{Call: embeddedCall()}
}

var (
	embeddedCall    = sync.OnceValue(func() *Forest { return embedded(callText) })
	embeddedSession = sync.OnceValue(func() *Forest { return embedded(sessionText) })
)

// embedded parses a forest of the program. A test parses both, so that parsing cannot fail here.
func embedded(text string) *Forest {
	f, err := ParseForest(text, Names())
	if err != nil {
		panic(err)
	}
	return f
}

// Parse parses the text form of both forests.
func Parse(call, session string) (*Weights, error) {
	c, err := ParseForest(call, Names())
	if err != nil {
		return nil, err
	}
	s, err := ParseForest(session, Names())
	return &Weights{c, s}, err
}

// MaxLines is the number of lines of the longest text that is ranked. For longer texts only the rules are
// used, because evaluating 250 trees per line would take too long.
const MaxLines = 2000

// Ranking holds the scores of a text's lines in 1024ths of a bit. One more bit means that a line is twice
// as likely to be used, per token.
type Ranking struct {
	Input  *Input
	Scores []int32

	rows *table
	f    *Forest
}

// Rank scores every line of a text.
func (w *Weights) Rank(in *Input) Ranking {
	f := w.Call
	if len(in.Events) > 0 {
		f = w.Session
	}
	r := Ranking{Scores: make([]int32, len(in.Lines)), Input: in, rows: tableOf(in), f: f}
	for i := range r.Scores {
		r.Scores[i] = f.Score(r.rows.row(i))
	}
	return r
}

// Informed reports whether the session was known.
func (r Ranking) Informed() bool { return len(r.Input.Events) > 0 }

// Boldness returns the factor for the price at which a line is kept.
func (r Ranking) Boldness() float64 { return cmp.Or(r.Input.Boldness, 1) }

// OfFile reports whether the text is a file's content rather than the output of a command or a search.
func (r Ranking) OfFile() bool { return toolOf(r.Input) == readTool }

// Plan prepares a choice in which every omitted range costs marker tokens.
func (r Ranking) Plan(marker int) *Plan {
	return &Plan{gain: gainOf(r.Input, r.Scores), tokens: r.Input.Tokens, marker: int32(marker)}
}

// Why explains a line's score: it names the two groups of features that raise it most.
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
	case parts[0].bits < OneBit/8:
		return "nothing speaks for it"
	case parts[1].bits < OneBit/8:
		return fmt.Sprintf("%s (+%s)", parts[0].name, inBits(parts[0].bits))
	}
	return fmt.Sprintf("%s (+%s), %s (+%s)", parts[0].name, inBits(parts[0].bits), parts[1].name, inBits(parts[1].bits))
}

// Bits converts a score to bits.
func Bits(score int32) float64 { return float64(score) / OneBit }

// inBits formats 1024ths of a bit with one decimal.
func inBits(v int32) string {
	tenths := (v*10 + OneBit/2) / OneBit
	return fmt.Sprintf("%d.%d", tenths/10, tenths%10)
}

// typical returns the median of a feature over the text's lines.
func (r Ranking) typical(feature int) int32 {
	values := make([]int32, r.rows.n)
	for i := range values {
		values[i] = r.rows.row(i)[feature]
	}
	slices.Sort(values)
	return values[len(values)/2]
}

// group is a set of features that an explanation names as one.
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

func ofSource(s source) func(int) bool {
	return func(f int) bool {
		first := int(s) * perSource
		return f >= first && f < first+perSource
	}
}
