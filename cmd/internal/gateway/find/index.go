// Package find ranks the exposed tools of a gateway by the steps of a task, for models whose client has no tool search of its own.
package find

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/mcp-pruner/mcp-pruner/tools/upstream"
)

// Weights of the places in which a word of a tool stands.
const (
	inName    = 3.0
	inServer  = 2.0
	inOpening = 1.5 // first sentence of its description
	inParam   = 1.0 // names of its parameters
	inRest    = 0.6 // other sentences of its description
)

// Constants of BM25: how fast further occurrences of a word count less, and how much the length of a text counts.
const (
	saturation = 1.2
	lengths    = 0.75
)

// moreActions is the part of its score that each further action, of the best four, adds to a tool.
const moreActions = 0.1

// maxActions is the maximum number of a tool's actions that are written out for one step, and closeTo the part of the best
// one's score that they need.
const (
	maxActions = 4
	closeTo    = 0.4
)

// Index holds the words of a list of tools.
type Index struct {
	list    []upstream.Exposed
	entries []entry
	rarity  map[string]float64
	mean    float64 // size of an entry
}

// entry is one action of an exposed tool.
type entry struct {
	tool, action int
	count        map[string]float64 // weighted occurrences, by stem
	size         float64
}

// New indexes the tools of a list.
func New(list []upstream.Exposed) *Index {
	x := &Index{list: list, rarity: map[string]float64{}}
	having, sum := map[string]int{}, 0.0
	for i := range list {
		for j := range list[i].Actions {
			e := entry{tool: i, action: j, count: countWords(list[i].Actions[j].Def)}
			for _, stem := range slices.Sorted(maps.Keys(e.count)) {
				e.size += e.count[stem]
				having[stem]++
			}
			sum += e.size
			x.entries = append(x.entries, e)
		}
	}
	n := float64(len(x.entries))
	x.mean = sum / max(n, 1)
	for stem, h := range having {
		x.rarity[stem] = math.Log(1 + (n-float64(h)+.5)/(float64(h)+.5))
	}
	return x
}

func countWords(d *upstream.Definition) map[string]float64 {
	count := map[string]float64{}
	add := func(text string, weight float64) {
		for stem := range eachWord(text) {
			count[stem] += weight
		}
	}
	opening, rest := d.Texts()
	add(d.Name, inName)
	add(d.Server, inServer)
	add(opening, inOpening)
	add(rest, inRest)
	for _, p := range d.ParameterNames() {
		add(p, inParam)
	}
	return count
}

// concept is a word of a query and the words that mean the same, each with its weight.
type concept map[string]float64

// scores returns the score of each entry. Of the words of a concept only the one that says most counts.
func (x *Index) scores(q []concept) []float64 {
	scores := make([]float64, len(x.entries))
	for i := range x.entries {
		e := &x.entries[i]
		norm := saturation * (1 - lengths + lengths*e.size/x.mean)
		for _, c := range q {
			best := 0.0
			for stem, weight := range c {
				if n := e.count[stem]; n > 0 {
					best = max(best, weight*x.rarity[stem]*n*(saturation+1)/(n+norm))
				}
			}
			scores[i] += best
		}
	}
	return scores
}

// Hit is an exposed tool with those of its actions that fit, the best first.
type Hit struct {
	Tool    *upstream.Exposed
	Actions []*upstream.Action
	score   float64
}

// hits returns the best tools by the scores of their actions.
func (x *Index) hits(scores []float64, limit int) []Hit {
	byTool := map[int][]int{}
	for i, e := range x.entries {
		if scores[i] > 0 {
			byTool[e.tool] = append(byTool[e.tool], i)
		}
	}
	hits := make([]Hit, 0, len(byTool))
	for _, tool := range slices.Sorted(maps.Keys(byTool)) {
		entries := byTool[tool]
		slices.SortStableFunc(entries, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
		best := scores[entries[0]]
		h := Hit{Tool: &x.list[tool], score: best}
		for k, i := range entries[:min(len(entries), maxActions)] {
			if k > 0 {
				h.score += moreActions * scores[i]
			}
			if scores[i] >= closeTo*best {
				h.Actions = append(h.Actions, &h.Tool.Actions[x.entries[i].action])
			}
		}
		hits = append(hits, h)
	}
	slices.SortStableFunc(hits, func(a, b Hit) int { return cmp.Compare(b.score, a.score) })
	return hits[:min(len(hits), limit)]
}
