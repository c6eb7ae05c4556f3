package main

import (
	"math"
	"slices"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/tools/tokens"
)

// inOrder visits the lines in the given order (0 is the first line) and keeps each that fits into the rest of the
// budget, a fraction of the text's tokens. The result has one entry per line.
func inOrder(lines []string, order []int, budget float64) []bool {
	total := 0
	for _, line := range lines {
		total += tokens.Line(line)
	}
	left, keep := int(budget*float64(total)), make([]bool, len(lines))
	for _, i := range order {
		if n := tokens.Line(lines[i]); n <= left {
			left -= n
			keep[i] = true
		}
	}
	return keep
}

// randomOrder shuffles the lines (Fisher and Yates). The seed is a hash of the group and the text, so that every run
// gets the same order.
func randomOrder(e *example, lines []string) []int {
	order := make([]int, len(lines))
	for i := range order {
		order[i] = i
	}
	x := hashOf(e.group, e.text)
	for i := len(order) - 1; i > 0; i-- {
		x = shuffled(x)
		k := int(x % uint64(i+1))
		order[i], order[k] = order[k], order[i]
	}
	return order
}

// goldOrder returns the gold lines only, those with the fewest tokens first. No other order has a higher recall under a
// budget.
func goldOrder(e *example, lines []string) []int {
	gold := e.isGold(len(lines))
	order := make([]int, 0, len(lines))
	for i, yes := range gold {
		if yes {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return tokens.Line(lines[a]) - tokens.Line(lines[b]) })
	return order
}

// bm25Order ranks lines by BM25, where each line is one document. Formula and usual parameters: Robertson and Zaragoza,
// The Probabilistic Relevance Framework: BM25 and Beyond (2009). The 1 that is added within the logarithm is Lucene's:
// it keeps the weight of frequent words above 0.
func bm25Order(e *example, lines []string) []int {
	const k1, b = 1.2, 0.75
	docs, df, length := make([]map[string]int, len(lines)), map[string]int{}, 0
	for i, line := range lines {
		docs[i] = map[string]int{}
		for _, w := range parts(line) {
			docs[i][w]++
			length++
		}
		for w := range docs[i] {
			df[w]++
		}
	}
	average := max(float64(length)/float64(max(len(lines), 1)), 1)
	score := make([]float64, len(lines))
	for _, q := range slices.Compact(slices.Sorted(slices.Values(parts(e.question)))) {
		idf := math.Log(1 + (float64(len(lines)-df[q])+0.5)/(float64(df[q])+0.5))
		for i, d := range docs {
			if n := float64(d[q]); n > 0 {
				size := 0
				for _, c := range d {
					size += c
				}
				score[i] += idf * n * (k1 + 1) / (n + k1*(1-b+b*float64(size)/average))
			}
		}
	}
	order := make([]int, len(lines))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case score[a] > score[b]:
			return -1
		case score[a] < score[b]:
			return 1
		}
		return 0
	})
	return order
}

// parts returns the words of a text in lower case. Identifiers are split before upper-case letters and between letters
// and digits; the final s of words that are longer than three bytes is removed.
func parts(text string) []string {
	var out []string
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return !isLetter(r) && (r < '0' || r > '9') }) {
		start := 0
		for i := 1; i <= len(word); i++ {
			if i == len(word) || isUpper(word[i]) && !isUpper(word[i-1]) || isDigit(word[i]) != isDigit(word[i-1]) {
				w := strings.ToLower(word[start:i])
				if len(w) > 3 {
					w = strings.TrimSuffix(w, "s")
				}
				out = append(out, w)
				start = i
			}
		}
	}
	return out
}

func isLetter(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' }

func isUpper(c byte) bool { return c >= 'A' && c <= 'Z' }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
