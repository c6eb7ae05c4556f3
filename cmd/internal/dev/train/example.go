package main

import (
	"cmp"
	"context"
	"strings"

	"mcp-pruner/pruneclient/lineprune"
	"mcp-pruner/pruneclient/lineprune/learned"
	"mcp-pruner/pruneclient/lineprune/session"
)

// example is a question, the output it was asked for, and the lines that answer it or
// that the agent used later.
type example struct {
	question string
	text     string
	kind     lineprune.Kind  // auto if not known
	task     string          // read, bash, grep, or prunebench's kind of question
	gold     []int           // 1-based
	call     session.Call    // its Context is nil where the session is not at hand
	served   []session.Event // what our own server would know of the session

	group  string  // what folds keep together: a session, or a repository
	repo   string  // of the text
	weight float64 // in training
	test   bool    // is measured on
}

// view is how much of an example the pruner is told.
type view int

const (
	alone    view = iota // the question and the call
	informed             // and what the session did before
	served               // and what our own server saw of that
)

// call is what is known under a view.
func (e *example) known(v view) session.Call {
	call := e.call
	switch v {
	case alone:
		call.Context = nil
	case served:
		call.Context = e.served
	}
	return call
}

// look surveys an example under a view.
func look(ctx context.Context, e *example, v view, budget float64) (lineprune.Survey, error) {
	call := e.known(v)
	return lineprune.Look(ctx, e.text, e.question, e.kind, lineprune.Options{
		File: call.File(), Command: call.Command(), Call: call, Budget: budget,
	})
}

// isGold says for each line whether it was used.
func (e *example) isGold(lines int) []bool {
	gold := make([]bool, lines)
	for _, n := range e.gold {
		if n >= 1 && n <= lines {
			gold[n-1] = true
		}
	}
	return gold
}

// prepared is what an example adds to a sample.
type prepared struct {
	rows   []int32
	gold   []bool
	weight []float64
}

// mostOthers is about how many lines of one example that were not used are learned
// from; each of them then stands for several.
const mostOthers = 160

// prepare computes the features of an example. The lines used later weigh as much, in
// each example, as all others by their tokens: then a score tells how much more of what is
// needed a line is expected to hold than of the tokens.
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

// shuffled is a step of xorshift64.
func shuffled(x uint64) uint64 {
	x ^= x << 13
	x ^= x >> 7
	return x ^ x<<17
}

// hashOf is FNV-1a of strings, never 0.
func hashOf(words ...string) uint64 {
	h := uint64(14695981039346656037)
	for _, c := range []byte(strings.Join(words, "\x00")) {
		h = (h ^ uint64(c)) * 1099511628211
	}
	return h | 1
}

// together is one sample of all examples.
func together(ps []*prepared) *sample {
	s := &sample{width: learned.Width}
	for _, p := range ps {
		s.rows = append(s.rows, p.rows...)
		s.gold = append(s.gold, p.gold...)
		s.weight = append(s.weight, p.weight...)
	}
	return s
}

// train grows a forest for calls of which nothing else is known and one for calls
// within a session.
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

// material is an example ready to be learned from.
type material struct {
	*example
	views []*prepared // by view
}

// materials prepares every example as it is asked with and without a session.
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
