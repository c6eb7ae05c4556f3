// Package lineprune is the embedded line pruner: given a text and a question, it decides which lines to
// keep. It is a pure function without state or I/O. It reads the text
// (doc, structure), scores its lines by the question (rank) or by what the session did (session, learned),
// chooses lines and renders them. Each of the packages below it imports only earlier ones: session, doc,
// structure, rank, learned.
package lineprune

import (
	"context"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/doc"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/learned"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/rank"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/structure"
)

// Prune selects the lines of text that answer question. It checks ctx while scoring and returns ctx's error
// once ctx is done.
func Prune(ctx context.Context, text, question string, kind Kind, opts Options) (Result, error) {
	s, err := Look(ctx, text, question, kind, opts)
	if err != nil {
		return Result{}, err
	}
	if opts.Ends == 0 && opts.weighs(len(s.Score)) {
		s = s.Weighed(opts.weights())
	}
	return s.Choose(), ctx.Err()
}

// read runs every step that precedes scoring.
func read(ctx context.Context, text, question string, kind Kind, opts Options) (*rank.Text, error) {
	q, d := opts.parse(question), doc.New(text)
	f := formOf(d, text, kind, opts)
	kind = f.kind
	if kind == Grep {
		d.Locate(structure.ListsPaths(d))
	}
	m, err := rank.Match(ctx, d, text, q)
	if err != nil {
		return nil, err
	}
	t := &rank.Text{Doc: d, Kind: kind, Question: q, Matches: m, Want: rank.WantOf(q), Shape: f.shape, Data: f.data, Heads: f.heads}
	t.Outline = outlineOf(t)
	if t.Shape == structure.Keys {
		for _, p := range q.KeyPaths() {
			t.Matches.Add(p.Group, structure.LinesAt(d, t.Outline, p.Keys))
		}
		findSpokenPath(t)
	}
	return t, nil
}

func outlineOf(t *rank.Text) structure.Outline {
	switch d := t.Doc; {
	case t.Kind == Docs:
		return structure.Docs(d)
	case t.Kind == Logs:
		return structure.Logs(d)
	case t.Kind == Grep:
		return structure.Grep(d)
	case t.Shape == structure.Keys:
		return structure.KeyOutline(d)
	}
	return structure.Code(t.Doc)
}

// listingOf reports whether a text is a listing rather than a program or a page, and returns its headings.
func listingOf(t *rank.Text, opts Options) (listing bool, heads []int32) {
	if t.Data.Nested() {
		return false, nil
	}
	switch t.Kind {
	case Docs:
		if !t.Outline.Headed() {
			return true, structure.Heads(t.Doc)
		}
		return false, structure.PageHeads(t.Doc, t.Outline)
	case Grep:
		return true, t.Doc.Heads
	case Code:
		if opts.File != "" || t.Shape != structure.Plain || len(t.Outline.Units) > 0 {
			return false, nil
		}
	}
	return true, structure.Heads(t.Doc)
}

// Survey is the analysis of a text before any line is chosen. It serves callers that choose by scores of
// their own, or choose more than once.
type Survey struct {
	Kind  Kind
	Score []float64 // relevance of each line to the question

	text       *rank.Text
	relevance  rank.Relevance
	inParts    rank.Relevance // relevance to each part of the question as well; the rules choose by it
	confidence float64
	opts       Options
	whole      string           // why the text was asked for as a whole, or ""
	ranking    *learned.Ranking // nil: the hand-written rules choose
}

// Look surveys a text. Like Prune, it checks ctx.
func Look(ctx context.Context, text, question string, kind Kind, opts Options) (Survey, error) {
	t, whole, err := score(ctx, text, question, kind, opts)
	if err != nil {
		return Survey{}, err
	}
	listing, heads := listingOf(t, opts)
	t.Listing, t.Heads = listing, structure.JoinHeads(t.Heads, heads)
	t.Named = rank.FindNamed(text, t.Question.Text, len(t.Doc.Lines))
	s := Survey{Kind: t.Kind, text: t, relevance: whole, inParts: whole, confidence: rank.Confidence(t, &whole), opts: opts}
	s.whole = askedWhole(t, question, opts)
	if opts.isAsked() {
		for _, part := range t.Question.Parts() {
			_, r, err := score(ctx, text, part, kind, opts)
			if err != nil {
				return Survey{}, err
			}
			s.inParts = s.inParts.With(r)
		}
	}
	s.Score = s.inParts.Score
	return s, nil
}

// isAsked reports whether the question was written as one. For a hook it is an agent's words before the call.
func (o Options) isAsked() bool { return o.Call.Asked || !o.calls() }

func (o Options) parse(question string) *rank.Question {
	if o.isAsked() {
		return rank.ParseQuestion(question)
	}
	return rank.ParseWords(question)
}

func score(ctx context.Context, text, question string, kind Kind, opts Options) (*rank.Text, rank.Relevance, error) {
	t, err := read(ctx, text, question, kind, opts)
	if err != nil {
		return nil, rank.Relevance{}, err
	}
	r, err := rank.Score(ctx, t)
	return t, r, err
}

// With returns the same survey with other options. Options that describe the text, such as File and
// Command, have no effect here.
func (s Survey) With(opts Options) Survey {
	s.opts = opts
	return s
}

// Choose returns the same result as Prune.
func (s Survey) Choose() Result {
	in := input{Text: s.text, Relevance: s.inParts, confidence: s.confidence, opts: s.opts}
	if s.opts.Ends > 0 {
		in.confidence = 1
		return chooseEnds(in)
	}
	in.whole, in.around, in.parts = s.whole, s.opts.Call.Around() > 0, s.opts.call().WholeParts(s.text.Doc.Lines)
	if s.ranking != nil && !s.precise() {
		weighed := in
		weighed.Relevance = s.relevance
		if res := chooseRanges(weighed, *s.ranking); !s.rulesMayCut(res) {
			return res
		}
	}
	return chooseLines(in)
}

// Keep keeps lines in the given order (0 is the first line) until the limits in the survey's options are
// reached. It also keeps the lines that Prune protects.
func (s Survey) Keep(order []int) Result {
	return chooseInOrder(input{Text: s.text, Relevance: s.inParts, confidence: s.confidence, opts: s.opts}, order)
}
