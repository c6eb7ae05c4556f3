package main

import (
	"hash/fnv"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"
	"unicode"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune"
)

// method is a named way to choose lines.
type method struct {
	name string
	// keep returns the numbers of the kept lines, 1-based and ascending. budget is the largest fraction of the text's
	// tokens that they may have.
	keep func(c *benchCase, budget float64) []int
}

// baselines are the simple methods that the line pruner is compared with, simplest first.
var baselines = []method{
	{"random lines", func(c *benchCase, b float64) []int { return take(c, randomOrder(c), b) }},
	{"first lines", func(c *benchCase, b float64) []int { return take(c, identity(len(c.lines)), b) }},
	{"grep ±2", func(c *benchCase, b float64) []int { return take(c, grepOrder(c), b) }},
	{"BM25, lines", func(c *benchCase, b float64) []int { return take(c, lineOrder(c, plainWords), b) }},
	{"BM25, lines, split words", func(c *benchCase, b float64) []int { return take(c, lineOrder(c, splitWords), b) }},
	{"BM25, lines, split words, smoothed", func(c *benchCase, b float64) []int { return take(c, smoothOrder(c), b) }},
	{"BM25, blocks, split words", func(c *benchCase, b float64) []int { return take(c, blockOrder(c), b) }},
}

// take visits the lines in the given order (0 is the first line) and keeps each that fits into the rest of the budget.
// The returned line numbers are 1-based and ascending.
func take(c *benchCase, order []int, budget float64) []int {
	left := int(budget * float64(c.total))
	var kept []int
	for _, i := range order {
		if c.tokens[i] <= left {
			left -= c.tokens[i]
			kept = append(kept, i+1)
		}
	}
	sort.Ints(kept)
	return kept
}

func identity(n int) []int {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	return order
}

// randomOrder sorts the lines by a hash of the case's id and the line's index, so that every run gets the same order.
func randomOrder(c *benchCase) []int {
	key := make([]float64, len(c.lines))
	for i := range key {
		h := fnv.New32a()
		h.Write([]byte(c.ID + "/" + strconv.Itoa(i)))
		key[i] = float64(h.Sum32())
	}
	return byScore(key)
}

// byScore returns the indices of the scores, highest score first. Equal scores keep their order.
func byScore(score []float64) []int {
	order := identity(len(score))
	sort.SliceStable(order, func(a, b int) bool { return score[order[a]] > score[order[b]] })
	return order
}

// grepOrder imitates `grep -C 2`: a line scores one point for each word of the question that it has, if the word is
// longer than three bytes. The two lines before and after it score 0.1 less per line of distance.
func grepOrder(c *benchCase) []int {
	score := make([]float64, len(c.lines))
	words := plainWords(c.Question)
	for i, line := range c.lines {
		have := plainWords(line)
		n := 0.0
		for _, w := range words {
			if len(w) > 3 && slices.Contains(have, w) {
				n++
			}
		}
		for j := max(0, i-2); n > 0 && j <= min(len(score)-1, i+2); j++ {
			score[j] = max(score[j], n-0.1*math.Abs(float64(i-j)))
		}
	}
	return byScore(score)
}

func plainWords(s string) []string {
	return strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' })
}

// splitWords also splits identifiers at underscores and before upper-case letters, and removes the final s of words
// that are longer than three bytes.
func splitWords(s string) []string {
	var out []string
	for _, w := range strings.FieldsFunc(s, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		start := 0
		for k := 1; k <= len(w); k++ {
			if k == len(w) || unicode.IsUpper(rune(w[k])) && !unicode.IsUpper(rune(w[k-1])) {
				p := strings.ToLower(w[start:k])
				if len(p) > 3 {
					p = strings.TrimSuffix(p, "s")
				}
				out = append(out, p)
				start = k
			}
		}
	}
	return out
}

// lineOrder ranks the lines by BM25, where each line is one document.
func lineOrder(c *benchCase, words func(string) []string) []int {
	docs := make([][]string, len(c.lines))
	for i, line := range c.lines {
		docs[i] = words(line)
	}
	return byScore(bm25(words(c.Question), docs))
}

// smoothOrder ranks the lines by BM25, smoothed over the neighbours: a score counts 0.8 times as much with each line of
// distance, in both directions.
func smoothOrder(c *benchCase) []int {
	docs := make([][]string, len(c.lines))
	for i, line := range c.lines {
		docs[i] = splitWords(line)
	}
	score := bm25(splitWords(c.Question), docs)
	up, down := slices.Clone(score), slices.Clone(score)
	for i := 1; i < len(score); i++ {
		down[i] += 0.8 * down[i-1]
		j := len(score) - 1 - i
		up[j] += 0.8 * up[j+1]
	}
	for i := range score {
		score[i] = up[i] + down[i] - score[i]
	}
	return byScore(score)
}

// blockOrder ranks blocks by BM25, where each block is one document. Within a block, lines keep their order.
func blockOrder(c *benchCase) []int {
	starts := blockStarts(c)
	docs := make([][]string, len(starts))
	for b, s := range starts {
		docs[b] = splitWords(strings.Join(c.lines[s:blockEnd(starts, b, len(c.lines))], "\n"))
	}
	var order []int
	for _, b := range byScore(bm25(splitWords(c.Question), docs)) {
		for i := starts[b]; i < blockEnd(starts, b, len(c.lines)); i++ {
			order = append(order, i)
		}
	}
	return order
}

// blockEnd returns the index after the last line of block b. n is the number of lines in the text.
func blockEnd(starts []int, b, n int) int {
	if b+1 < len(starts) {
		return starts[b+1]
	}
	return n
}

// blockStarts divides a text into functions, sections, log blocks or files and returns the index of each block's first
// line.
func blockStarts(c *benchCase) []int {
	starts := []int{0}
	for i := 1; i < len(c.lines); i++ {
		if opensBlock(c, i, i-starts[len(starts)-1]) {
			starts = append(starts, i)
		}
	}
	return starts
}

// opensBlock reports whether line i begins a new block. size is the number of lines in the block so far.
func opensBlock(c *benchCase, i, size int) bool {
	line, above := c.lines[i], strings.TrimSpace(c.lines[i-1])
	switch {
	case c.Task == "grep":
		path, _, _ := strings.Cut(line, ":")
		return !strings.HasPrefix(c.lines[i-1], path+":")
	case c.SourceType == lineprune.Docs:
		return strings.HasPrefix(line, "#") || above == "" && size > 8
	case c.SourceType == lineprune.Logs:
		return above == "" || strings.HasPrefix(line, "===") || strings.HasPrefix(line, "---") || size >= 12
	}
	depth := len(line) - len(strings.TrimLeft(line, " \t"))
	return above == "" && line != "" && depth <= 4 && !strings.HasPrefix(strings.TrimSpace(line), "}")
}

// bm25 returns the BM25 score of each document, a list of words, for a query. Formula and usual parameters: Robertson
// and Zaragoza, The Probabilistic Relevance Framework: BM25 and Beyond (2009). The 1 that is added within the logarithm
// is Lucene's: it keeps the weight of frequent words above 0.
func bm25(query []string, docs [][]string) []float64 {
	const k1, b = 1.2, 0.75
	df, total := map[string]int{}, 0
	for _, d := range docs {
		total += len(d)
		for _, w := range slices.Compact(slices.Sorted(slices.Values(d))) {
			df[w]++
		}
	}
	average := max(float64(total)/float64(max(len(docs), 1)), 1)
	query = slices.Compact(slices.Sorted(slices.Values(query)))
	score := make([]float64, len(docs))
	for i, d := range docs {
		for _, q := range query {
			tf := 0.0
			for _, w := range d {
				if w == q {
					tf++
				}
			}
			idf := math.Log(1 + (float64(len(docs)-df[q])+0.5)/(float64(df[q])+0.5))
			score[i] += idf * tf * (k1 + 1) / (tf + k1*(1-b+b*float64(len(d))/average))
		}
	}
	return score
}
