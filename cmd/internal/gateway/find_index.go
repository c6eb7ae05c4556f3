package gateway

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/mcp-pruner/mcp-pruner/tools/upstream"
)

// findWeights are the parameters of the ranking.
type findWeights struct {
	// Places in which a word of a tool stands.
	name    float64
	server  float64
	opening float64 // first sentence of its description
	param   float64 // names of its parameters
	rest    float64 // other sentences of its description

	// Words of a query, beside those of a step, which are 1.
	synonym float64
	verb    float64 // get, create, ...: many tools have them
	common  float64 // words of every text
	task    float64 // words of the whole task

	// Constants of BM25: how fast further occurrences of a word count less, and how much the length of a text counts.
	saturation float64
	lengths    float64

	more float64 // the part of its score that each further action, of the best four, adds to a tool
}

var tunedWeights = findWeights{name: 3, server: 2, opening: 1.5, param: 1, rest: 0.6, synonym: 0.4, verb: 0.75, common: 0.2, task: 0.1, saturation: 1.2, lengths: 0.75, more: 0.1}

// maxActions is the maximum number of a tool's actions that are written out for one step, and closeTo the part of the best
// one's score that they need.
const (
	maxActions = 4
	closeTo    = 0.4
)

// toolIndex holds the words of a list of tools.
type toolIndex struct {
	weights findWeights
	same    map[string][]string // stems that mean the same as a stem
	list    []upstream.Exposed
	entries []indexEntry
	rarity  map[string]float64
	mean    float64 // size of an entry
}

// indexEntry is one action of an exposed tool.
type indexEntry struct {
	tool, action int
	count        map[string]float64 // weighted occurrences, by stem
	size         float64
}

// newToolIndex indexes the tools of a list.
func newToolIndex(list []upstream.Exposed) *toolIndex {
	return newWeightedIndex(list, tunedWeights, synonyms())
}

func newWeightedIndex(list []upstream.Exposed, w findWeights, same map[string][]string) *toolIndex {
	x := &toolIndex{weights: w, same: same, list: list, rarity: map[string]float64{}}
	having, sum := map[string]int{}, 0.0
	for i := range list {
		for j := range list[i].Actions {
			e := indexEntry{tool: i, action: j, count: w.countWords(list[i].Actions[j].Def)}
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

func (w findWeights) countWords(d *upstream.Definition) map[string]float64 {
	count := map[string]float64{}
	add := func(text string, weight float64) {
		for stem := range eachWord(text) {
			count[stem] += weight
		}
	}
	opening, rest := d.Texts()
	add(d.Name, w.name)
	add(d.Server, w.server)
	add(opening, w.opening)
	add(rest, w.rest)
	for _, p := range d.ParameterNames() {
		add(p, w.param)
	}
	return count
}

// concept is a word of a query and the words that mean the same, each with its weight.
type concept map[string]float64

// scores returns the score of each entry. Of the words of a concept only the one that says most counts.
func (x *toolIndex) scores(q []concept) []float64 {
	w, scores := x.weights, make([]float64, len(x.entries))
	for i := range x.entries {
		e := &x.entries[i]
		norm := w.saturation * (1 - w.lengths + w.lengths*e.size/x.mean)
		for _, c := range q {
			best := 0.0
			for stem, weight := range c {
				if n := e.count[stem]; n > 0 {
					best = max(best, weight*x.rarity[stem]*n*(w.saturation+1)/(n+norm))
				}
			}
			scores[i] += best
		}
	}
	return scores
}

// foundTool is an exposed tool with those of its actions that fit, the best first.
type foundTool struct {
	Tool    *upstream.Exposed
	Actions []*upstream.Action
	score   float64
}

// hits returns the best tools by the scores of their actions.
func (x *toolIndex) hits(scores []float64, limit int) []foundTool {
	byTool := map[int][]int{}
	for i, e := range x.entries {
		if scores[i] > 0 {
			byTool[e.tool] = append(byTool[e.tool], i)
		}
	}
	hits := make([]foundTool, 0, len(byTool))
	for _, tool := range slices.Sorted(maps.Keys(byTool)) {
		entries := byTool[tool]
		slices.SortStableFunc(entries, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
		best := scores[entries[0]]
		h := foundTool{Tool: &x.list[tool], score: best}
		for k, i := range entries[:min(len(entries), maxActions)] {
			if k > 0 {
				h.score += x.weights.more * scores[i]
			}
			if scores[i] >= closeTo*best {
				h.Actions = append(h.Actions, &h.Tool.Actions[x.entries[i].action])
			}
		}
		hits = append(hits, h)
	}
	slices.SortStableFunc(hits, func(a, b foundTool) int { return cmp.Compare(b.score, a.score) })
	return hits[:min(len(hits), limit)]
}
