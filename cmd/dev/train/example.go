package main

import (
	"cmp"
	"context"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/learned"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/session"
)

// example is a question, the tool output that it is about, and the gold lines: those that answer it or that the agent
// used later.
type example struct {
	question string
	text     string
	kind     lineprune.Kind  // empty if unknown: it is detected then
	task     string          // read, bash, grep, or prunebench's kind of question
	gold     []int           // 1-based numbers of the gold lines
	call     session.Origin  // its Context is nil if the session is not available
	served   []session.Event // the events of the session that our own server would see

	group  string  // session, or repository in prunebench; a group is never divided between folds
	repo   string  // repository of the text
	weight float64 // training weight; 0 means 1
	test   bool    // results are measured on it
}

// view determines how much of the session the pruner gets.
type view int

const (
	alone    view = iota // the question and the call's arguments only
	informed             // in addition, all earlier events of the session
	served               // informed, with only those events that our own server sees
)

// known returns the call with the events of a view.
func (e *example) known(v view) session.Origin {
	call := e.call
	switch v {
	case alone:
		call.Context = nil
	case served:
		call.Context = e.served
	}
	return call
}

// look surveys an example with the events of a view. budget is a fraction of the tokens; 0 means none.
func look(ctx context.Context, e *example, v view, budget float64) (lineprune.Survey, error) {
	call := e.known(v)
	return lineprune.Look(ctx, e.text, e.question, e.kind, lineprune.Options{
		File: call.File(), Command: call.Command(), Call: call, Budget: budget,
	})
}

// isGold reports for each line whether it is gold. lines is the number of lines in the text.
func (e *example) isGold(lines int) []bool {
	gold := make([]bool, lines)
	for _, n := range e.gold {
		if n >= 1 && n <= lines {
			gold[n-1] = true
		}
	}
	return gold
}

// prepared holds the lines that an example adds to a sample. The fields are as in sample.
type prepared struct {
	rows   []int32
	gold   []bool
	weight []float64
}

// mostOthers is the expected number of lines drawn from an example's lines that are not gold, if it has more than that.
// The weights of the drawn lines are raised accordingly.
const mostOthers = 80

// prepare computes the features and weights of an example's lines. The gold lines weigh 1 in all, each the same; every
// other line weighs its fraction of the text's tokens. A score learned with these weights estimates the logarithm of a
// ratio: the line's expected fraction of the gold lines to its fraction of the tokens.
func prepare(ctx context.Context, e *example, v view) (*prepared, error) {
	survey, err := look(ctx, e, v, 0)
	if err != nil {
		return nil, err
	}
	in := survey.Input()
	gold, rows := e.isGold(len(in.Lines)), learned.Table(in)
	goldLines, tokens := 0, 0
	for i, yes := range gold {
		tokens += int(in.Tokens[i])
		if yes {
			goldLines++
		}
	}
	thin := max(float64(len(gold)-goldLines)/mostOthers, 1)
	random := hashOf(e.group, e.question)
	p := &prepared{}
	for i, yes := range gold {
		w := thin * float64(in.Tokens[i]) / float64(tokens)
		if yes {
			w = 1 / float64(goldLines)
		} else if random = shuffled(random); float64(float64(random>>11)/(1<<53)*thin) >= 1 {
			continue
		}
		p.rows = append(p.rows, rows[i*learned.Width:(i+1)*learned.Width]...)
		p.gold, p.weight = append(p.gold, yes), append(p.weight, w*cmp.Or(e.weight, 1))
	}
	return p, nil
}

// shuffled returns the number after x in the sequence of xorshift64 (Marsaglia, Xorshift RNGs, 2003).
func shuffled(x uint64) uint64 {
	x ^= x << 13
	x ^= x >> 7
	return x ^ x<<17
}

// hashOf returns the FNV-1a hash of strings with its lowest bit set, because xorshift64 must not start with 0.
func hashOf(words ...string) uint64 {
	h := uint64(14695981039346656037)
	for _, c := range []byte(strings.Join(words, "\x00")) {
		h = (h ^ uint64(c)) * 1099511628211
	}
	return h | 1
}

// together joins the lines of all examples into one sample.
func together(ps []*prepared) *sample {
	s := &sample{width: learned.Width}
	for _, p := range ps {
		s.rows = append(s.rows, p.rows...)
		s.gold = append(s.gold, p.gold...)
		s.weight = append(s.weight, p.weight...)
	}
	return s
}

// train grows two forests: one for calls without a session, from all examples, and one for calls within a session.
func train(ms []*material, b boosting) *learned.Weights {
	var calls, sessions []*prepared
	for _, m := range ms {
		calls = append(calls, m.views[alone])
		if len(m.views) > int(informed) {
			sessions = append(sessions, m.views[informed])
		}
	}
	return &learned.Weights{Call: grow(together(calls), b), Session: grow(together(sessions), b)}
}

// material is an example and its lines, prepared for each view.
type material struct {
	*example
	views []*prepared // indexed by view; without informed if the example has no session
}

// materials prepares every example without its session and, if it has one, with it.
func materials(ctx context.Context, es []*example) ([]*material, error) {
	var out []*material
	for _, e := range es {
		m := &material{example: e}
		views := []view{alone}
		if len(e.call.Context) > 0 {
			views = append(views, informed)
		}
		for _, v := range views {
			p, err := prepare(ctx, e, v)
			if err != nil {
				return nil, err
			}
			m.views = append(m.views, p)
		}
		out = append(out, m)
	}
	return out, nil
}
