package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/cmd/dev/folds"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/learned"
)

// foldsOf holds the ways to assign examples to folds, by session or by repository. An example is measured with weights
// that were learned from the other folds.
var foldsOf = map[string]func(e *example) int{
	"session":    func(e *example) int { return int(hashOf(e.group) >> 17 % 3) },
	"repository": func(e *example) int { return folds.Of(e.repo) },
}

// figures holds the outcomes by key. Each list is in the order of the examples.
type figures map[string][]outcome

// Names of the methods in figures and in the report.
const (
	byRandom  = "random lines"
	byBM25    = "BM25, lines"
	byRules   = "hand-written rules"
	byCall    = "learned, question and arguments"
	bySession = "learned, with the session"
	byOracle  = "oracle"
)

// unseen holds weights by the fold that they were learned without.
type unseen map[int]*learned.Weights

// validate measures the examples for which measured is true, each with weights that were learned from the other folds. It adds to
// trained the weights that it lacks.
func validate(ctx context.Context, ms []*material, foldOf func(*example) int, measured func(*example) bool, b boosting, trained unseen) (figures, error) {
	all := figures{}
	numbers := map[int]bool{}
	for _, m := range ms {
		if measured(m.example) {
			numbers[foldOf(m.example)] = true
		}
	}
	for _, fold := range slices.Sorted(maps.Keys(numbers)) {
		var known []*material
		for _, m := range ms {
			if foldOf(m.example) != fold {
				known = append(known, m)
			}
		}
		if len(known) == 0 {
			return nil, fmt.Errorf("nothing is left to learn from without fold %d", fold)
		}
		if trained[fold] == nil {
			trained[fold] = train(known, b)
		}
		for _, m := range ms {
			if measured(m.example) && foldOf(m.example) == fold {
				if err := all.measure(ctx, m.example, trained[fold]); err != nil {
					return nil, err
				}
			}
		}
	}
	return all, nil
}

// budgets are fractions of a text's tokens; 0 means no budget.
var budgets = []float64{0.1, 0.2, 0.3, 0.5, 0}

// key returns the key of a method at a budget, for all examples or only for those with a session.
func key(method string, budget float64, withSession bool) string {
	k := fmt.Sprintf("%s %.0f", method, 100*budget)
	if withSession {
		k += " session"
	}
	return k
}

// measure adds the outcomes of one example for every method and budget.
func (f figures) measure(ctx context.Context, e *example, w *learned.Weights) error {
	lines := strings.Split(e.text, "\n")
	informedToo := len(e.call.Context) > 0
	add := func(method string, budget float64, keep []bool) {
		o := judge(e, lines, keep)
		f[key(method, budget, false)] = append(f[key(method, budget, false)], o)
		if informedToo {
			f[key(method, budget, true)] = append(f[key(method, budget, true)], o)
		}
	}
	orders := map[string][]int{byRandom: randomOrder(e, lines), byBM25: bm25Order(e, lines), byOracle: goldOrder(e, lines)}
	for _, budget := range budgets {
		survey, err := look(ctx, e, alone, budget)
		if err != nil {
			return err
		}
		if budget > 0 {
			for method, order := range orders {
				add(method, budget, inOrder(lines, order, budget))
			}
		}
		add(byRules, budget, kept(survey.Choose(), len(lines)))
		add(byCall, budget, kept(survey.Weighed(w).Choose(), len(lines)))
		if informedToo {
			with, err := look(ctx, e, informed, budget)
			if err != nil {
				return err
			}
			o := judge(e, lines, kept(with.Weighed(w).Choose(), len(lines)))
			f[key(bySession, budget, true)] = append(f[key(bySession, budget, true)], o)
		}
	}
	return nil
}

// kept converts the kept line numbers of a result to one entry per line.
func kept(res lineprune.Result, lines int) []bool {
	keep := make([]bool, lines)
	for _, n := range res.Kept {
		if n <= lines {
			keep[n-1] = true
		}
	}
	return keep
}
