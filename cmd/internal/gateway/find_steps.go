package gateway

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/mcp-pruner/mcp-pruner/tools/upstream"
)

var commonWords = upstream.WordSet(`a about all an and any are as at be between by can data for from i in information into is it its me my of on or
	please report some that the their them then these this those to use using will with you your`)

// Find returns the best tools for each step of a task, at most limit for each. The task as a whole is one more step. A
// findTask without steps is split into its sentences.
func (x *toolIndex) Find(task string, steps []string, limit int) (parts []string, found [][]foundTool) {
	parts = steps
	switch {
	case len(steps) == 0:
		parts = stepsOf(task)
	case strings.TrimSpace(task) != "" && !slices.Contains(steps, task):
		parts = append(slices.Clone(steps), task)
	}
	parts = parts[:min(len(parts), maxSteps)]
	context := x.conceptsOf(beginning(strings.Join(append(slices.Clone(parts), task), "\n")), x.weights.task, false)
	for _, part := range parts {
		found = append(found, x.hits(x.scores(append(x.conceptsOf(beginning(part), 1, true), context...)), limit))
	}
	return parts, found
}

// conceptsOf returns the different words of a text as concepts, in a fixed order, so that sums are the same each time.
func (x *toolIndex) conceptsOf(text string, weight float64, widened bool) []concept {
	weights := map[string]float64{}
	for stem, word := range eachWord(text) {
		switch {
		case commonWords[word]:
			weights[stem] = weight * x.weights.common
		case upstream.IsVerb(word):
			weights[stem] = weight * x.weights.verb
		default:
			weights[stem] = weight
		}
	}
	list := make([]concept, 0, len(weights))
	for _, stem := range slices.Sorted(maps.Keys(weights)) {
		c := concept{stem: weights[stem]}
		if widened {
			for _, other := range x.same[stem] {
				c[other] = weights[stem] * x.weights.synonym
			}
		}
		list = append(list, c)
	}
	return list
}

// maxSteps is the maximum number of steps that are looked at, and maxText the number of bytes that are looked at of each.
const (
	maxSteps = 12
	maxText  = 4000
)

func beginning(text string) string { return strings.ToValidUTF8(text[:min(len(text), maxText)], "") }

var betweenSteps = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:^|\s)\d{1,2}[.)]\s+|[.!?;]["')]?\s+|[。！？；]|\n+|,?\s+(?:and )?then\s+`)
})

// stepsOf splits a task into the sentences and numbered steps that it consists of.
func stepsOf(task string) []string {
	var steps []string
	for _, part := range betweenSteps().Split(task, -1) {
		if part = strings.TrimSpace(part); part != "" {
			steps = append(steps, part)
		}
	}
	return steps
}
