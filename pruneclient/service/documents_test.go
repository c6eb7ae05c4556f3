package service_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/service"
)

func TestDocuments(t *testing.T) {
	varied := func(n int) []string { return linesOf(haystack(n - 1)) }
	uniform := func(n int) (lines []string) {
		for i := range n {
			lines = append(lines, fmt.Sprintf("line %d", i+1))
		}
		return lines
	}
	t.Run("a line each", func(t *testing.T) {
		_, spans := service.Documents(varied(8), nil, 8)
		assert.Equal(t, [2]int{1, 1}, spans[0])
		assert.Len(t, spans, 8)
	})
	t.Run("an even sample of lines that are all alike", func(t *testing.T) {
		texts, _ := service.Documents(uniform(50), make([]float64, 50), 7)
		assert.Equal(t, []string{"line 1", "line 9", "line 17", "line 25", "line 34", "line 42", "line 50"}, texts)
	})
	t.Run("but not when the question prefers one", func(t *testing.T) {
		relevance := make([]float64, 50)
		relevance[20] = 1
		_, spans := service.Documents(uniform(50), relevance, 7)
		assert.Equal(t, 50, covered(spans))
	})
	t.Run("blocks that cover the text", func(t *testing.T) {
		_, spans := service.Documents(varied(100), nil, 7)
		assert.Len(t, spans, 7)
		assert.Equal(t, 100, covered(spans))
	})
	t.Run("of a long text what the question points at, and some of the rest", func(t *testing.T) {
		lines := varied(20_000)
		relevance := make([]float64, len(lines))
		for _, i := range []int{777, 5432, 15_000} {
			relevance[i] = 1
		}
		texts, spans := service.Documents(lines, relevance, 16)
		assert.Len(t, spans, 16)
		for _, i := range []int{777, 5432, 15_000} {
			assert.True(t, slices.ContainsFunc(spans, func(s [2]int) bool { return s[0] <= i+1 && i+1 <= s[1] }), i)
		}
		assert.Greater(t, spans[15][1], 19_000, "the end is sampled")
		for _, text := range texts {
			assert.LessOrEqual(t, len(text), 4000)
		}
	})
	t.Run("a huge line is cut at a rune", func(t *testing.T) {
		texts, _ := service.Documents([]string{strings.Repeat("é", 100_000)}, nil, 4)
		assert.Equal(t, strings.Repeat("é", 2000), texts[0])
	})
}

func covered(spans [][2]int) int {
	n := 0
	for _, s := range spans {
		n += s[1] - s[0] + 1
	}
	return n
}

// The reranker scores lines; what they stand in comes along.
func TestRerankKeepsStructure(t *testing.T) {
	var code strings.Builder
	code.WriteString("package billing\n\nimport \"errors\"\n\n")
	for i := range 12 {
		fmt.Fprintf(&code, "func %sHandler(amount int) error {\n", word(i)+fmt.Sprint(i))
		for k := range 20 {
			fmt.Fprintf(&code, "\tstep%d := %s(amount, %d)\n", k, word(k*3+i), k*i)
		}
		fmt.Fprintf(&code, "\treturn check%d(amount)\n}\n\n", i)
	}
	s := newService(t, service.Settings{Reranker: newReranker(t, func(doc string, _, _ int) float64 {
		if strings.Contains(doc, "return check7") {
			return 1
		}
		return 0
	}, 512)})
	a := ask(code.String(), "overdraft")
	a.Kind, a.Options.MaxPruneRatio = lineprune.Code, 0.98
	res := prune(t, s, a)
	assert.Contains(t, res.PrunedText, "return check7(amount)")
	assert.Contains(t, res.PrunedText, "func haven7Handler(amount int) error {")
	assert.Less(t, res.Stats.KeptLines, 20, "structure stays a small part")

	text := strings.Repeat("a paragraph that says nothing much\n", 60) + "```sh\n" + strings.Repeat("run the thing\n", 5) + "```\n" + strings.Repeat("another paragraph of that sort\n", 60)
	s = newService(t, service.Settings{Reranker: newReranker(t, func(doc string, _, _ int) float64 {
		if strings.Contains(doc, "run the thing") {
			return 1
		}
		return 0
	}, 512)})
	a = ask(text, "overdraft")
	a.Options.MaxPruneRatio = 0.98
	assert.Subset(t, kept(prune(t, s, a)), []int{61, 62, 63, 64, 65, 66, 67})
}
