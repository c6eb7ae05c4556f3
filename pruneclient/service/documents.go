package service

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune"
	"github.com/mcp-pruner/mcp-pruner/tools/files"
)

const (
	// documentBytes is the size of a document if a text has more lines than documents: a
	// passage length that rerankers score well.
	documentBytes = 2000
	// maxDocumentBytes is the size to which a single long line is cut.
	maxDocumentBytes = 4000
)

// document is one passage to be scored: lines first to last of the text, counted from 0,
// without blank and protected lines.
type document struct {
	first, last int
	text        string
}

// documents divides a text's solid lines into at most limit passages, such that their
// scores cover every line. If there are few enough lines, each is a passage. Otherwise
// passages are blocks of lines that together cover the text. For a text too long for that,
// half of them are the blocks most relevant to the question, and half are spread evenly
// among the others. If the lines differ only in numbers and the question prefers none, a
// block tells no more than a line, so an even sample of lines is sent.
func documents(lines []string, solid []int, relevance []float64, limit int) []document {
	size := 0
	for _, i := range solid {
		size += len(lines[i]) + 1
	}
	switch {
	case len(solid) <= limit:
		return blocks(lines, solid, len(solid))
	case monotonous(lines, solid, relevance):
		return sample(lines, solid, limit)
	case size <= limit*documentBytes:
		return blocks(lines, solid, limit)
	}
	all := blocks(lines, solid, min(len(solid), size/documentBytes+1))
	return pick(all, relevance, limit)
}

// askable returns the solid lines, which are worth a score: neither blank, nor kept
// regardless of their score. The latter need not leave the machine.
func askable(lines []string) (solid []int) {
	sealed := lineprune.Sealed(lines)
	for i, line := range lines {
		if strings.TrimSpace(line) != "" && !sealed[i] {
			solid = append(solid, i)
		}
	}
	return solid
}

// blocks divides the lines into n passages with nearly equal numbers of lines.
func blocks(lines []string, solid []int, n int) []document {
	docs := make([]document, n)
	for k := range docs {
		docs[k] = passage(lines, solid[k*len(solid)/n:(k+1)*len(solid)/n])
	}
	return docs
}

// sample returns n lines at equal distances, including the first and the last.
func sample(lines []string, solid []int, n int) []document {
	docs := make([]document, n)
	for k, i := range evenly(len(solid), n) {
		docs[k] = passage(lines, solid[i:i+1])
	}
	return docs
}

// evenly spreads n indices over size positions, including both ends.
func evenly(size, n int) []int {
	at := make([]int, n)
	for k := range at {
		if n > 1 {
			at[k] = int(math.RoundToEven(float64(k) * float64(size-1) / float64(n-1)))
		}
	}
	return at
}

// pick keeps limit passages: half of them the most relevant to the question, the others at
// equal distances among the rest.
func pick(all []document, relevance []float64, limit int) []document {
	if len(all) <= limit {
		return all
	}
	order := make([]int, len(all))
	best := make([]float64, len(all))
	for k, d := range all {
		order[k] = k
		for i := d.first; i <= d.last && i < len(relevance); i++ {
			best[k] = max(best[k], relevance[i])
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(best[b], best[a]) })
	top := (limit + 1) / 2
	chosen, others := order[:top:top], append([]int{}, order[top:]...)
	slices.Sort(others)
	for _, i := range evenly(len(others), limit-top) {
		chosen = append(chosen, others[i])
	}
	slices.Sort(chosen)
	docs := make([]document, len(chosen))
	for k, i := range chosen {
		docs[k] = all[i]
	}
	return docs
}

func passage(lines []string, members []int) document {
	d := document{first: members[0], last: members[len(members)-1]}
	var b strings.Builder
	for k, i := range members {
		if k > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(strings.TrimSuffix(lines[i], "\r"))
		if b.Len() > maxDocumentBytes {
			break
		}
	}
	d.text = string(files.CutRune([]byte(b.String()), maxDocumentBytes))
	return d
}

func monotonous(lines []string, solid []int, relevance []float64) bool {
	for _, i := range solid {
		if i < len(relevance) && relevance[i] != relevance[solid[0]] {
			return false
		}
		if !sameShape(lines[i], lines[solid[0]]) {
			return false
		}
	}
	return true
}

// spread gives every line a score: that of its passage, or an interpolation between the two
// nearest scored passages. A passage without a score is ranked below all others.
func spread(docs []document, scores []float64, lines int) []float64 {
	scores = finite(scores)
	out := make([]float64, lines)
	for k, d := range docs {
		for i := d.first; i <= d.last; i++ {
			out[i] = scores[k]
		}
		from, width := 0, d.first
		if k > 0 {
			from, width = docs[k-1].last+1, d.first-docs[k-1].last
		}
		for i := from; i < d.first; i++ {
			out[i] = scores[k]
			if k > 0 {
				out[i] = between(scores[k-1], scores[k], float64(i-from+1)/float64(width))
			}
		}
	}
	for i := docs[len(docs)-1].last + 1; i < lines; i++ {
		out[i] = scores[len(docs)-1]
	}
	return out
}

// between interpolates from a to b at share, 0 to 1. It is exact if they are equal, and
// safe if their difference overflows a float64.
func between(a, b, share float64) float64 {
	if a == b {
		return a
	}
	return a*(1-share) + b*share
}

// finite replaces missing scores by one below all others; if the lowest is already the
// smallest finite number, by -Inf.
func finite(scores []float64) []float64 {
	worst := math.Inf(1)
	for _, s := range scores {
		if !math.IsInf(s, -1) {
			worst = min(worst, s)
		}
	}
	missing := min(worst-1, math.Nextafter(worst, math.Inf(-1)))
	out := make([]float64, len(scores))
	for i, s := range scores {
		if out[i] = s; math.IsInf(s, -1) {
			out[i] = missing
		}
	}
	return out
}

// sameShape reports whether two lines differ only in their numbers.
func sameShape(a, b string) bool {
	for i, j := 0, 0; ; {
		aDigits, bDigits := digits(a[i:]), digits(b[j:])
		if (aDigits > 0) != (bDigits > 0) {
			return false
		}
		i, j = i+aDigits, j+bDigits
		if i == len(a) || j == len(b) {
			return i == len(a) && j == len(b)
		}
		if aDigits == 0 {
			if a[i] != b[j] {
				return false
			}
			i, j = i+1, j+1
		}
	}
}

// digits returns the length of the number at the start of s.
func digits(s string) int {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}
