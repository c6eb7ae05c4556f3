package main

import (
	"math"
	"slices"
	"strings"

	"mcp-pruner/pruneclient/lineprune"
)

// inOrder keeps lines in an order while they fit into a share of the tokens.
func inOrder(lines []string, order []int, budget float64) []bool {
	total := 0
	for _, line := range lines {
		total += lineprune.CountTokens(line)
	}
	left, keep := int(budget*float64(total)), make([]bool, len(lines))
	for _, i := range order {
		if n := lineprune.CountTokens(lines[i]); n <= left {
			left -= n
			keep[i] = true
		}
	}
	return keep
}

// randomOrder depends on the text alone.
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

// goldOrder is what nobody can beat.
func goldOrder(e *example, lines []string) []int {
	gold := e.isGold(len(lines))
	order := make([]int, 0, len(lines))
	for i, yes := range gold {
		if yes {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return lineprune.CountTokens(lines[a]) - lineprune.CountTokens(lines[b]) })
	return order
}

// bm25Order ranks lines by BM25 of their words, identifiers taken apart.
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

// parts are the words of a text in lower case, cut where the case changes.
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
