package tokens

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestEstimateStaysSane(t *testing.T) {
	assert.Equal(t, 0, Estimate(""))
	for _, text := range append(shortTexts()[1:], strings.Repeat("\n", 5000), strings.Repeat("=", 5000), strings.Repeat("é", 5000)) {
		for _, n := range []int{Estimate(text), EstimateWell(text)} {
			assert.Positive(t, n, "%q", text)
			assert.LessOrEqual(t, n, len(text), "%q", text)
		}
	}
}

// A text that is weighed in parts side by side weighs what it does from end to end.
func TestPartsWeighWhatTheWholeDoes(t *testing.T) {
	text := "func  main() {\n\n\n\n\t\t\t\tfmt.Println(12345678, \"äöü ====== \")\n}\n"
	for from := range text {
		for to := from; to <= len(text); to++ {
			part := text[from:to]
			require.Equal(t, weigh(stretch{part, after("")}), weighAll(part), "%q", part)
		}
	}
}

// shortTexts are short texts at the borders of the vocabulary's rules.
func shortTexts() []string {
	return []string{"", "a", " ", "\n", " a", "\ta", "a\n\n  b", "(\n//x", "x's y'LL", "naïve café", "日本語テキスト", "\x00\x01", "🙂", "\xff", "HTTPServer", "1234567"}
}

func TestLinesAreCountedLikeTheBenchmarkDoes(t *testing.T) {
	for line, want := range map[string]int{"": 1, "a_b1 c": 3, "x += 1;": 6, "été": 4, "空指": 3, "  ": 1, "\t\v\f\r": 1, "@[`{": 5, "a\x00b": 4, "x\n": 2} {
		assert.Equal(t, want, Line(line), "%q", line)
	}
	assert.Equal(t, Line("a b")+Line("")+Line("c"), Lines("a b\n\nc\n"))
	assert.Zero(t, Lines(""))
}

func TestSizesAndClaude(t *testing.T) {
	assert.Equal(t, 828, OfSize(3313))
	assert.Equal(t, 1000, OfJSON(3600))
	assert.Zero(t, Claude(""))
	text := strings.Repeat("word ", 100)
	assert.InDelta(t, ClaudePerToken*float64(EstimateWell(text)), Claude(text), 0.5)
}
