package rank

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/doc"
)

func TestWhatCompilersAndTestRunnersSayOfAFailure(t *testing.T) {
	for _, line := range []string{
		"alpha.c:7:3: error: x", "error: could not compile `alpha`", "FAIL: test_alpha", "    --- FAIL: TestAlpha/beta (0.00s)", "not ok 7 - alpha",
		"=== RUN   TestAlpha", "make: Target 'all' not remade because of errors.", "E   assert 3 == 4", "AssertionError: 3 != 4", "✗ alpha", "✕ alpha",
		"  ● alpha", "  3 failing", "  2) alpha", "  code: 'ERR_ASSERTION'",
	} {
		require.True(t, failedCheck(line), line)
	}
	for _, line := range []string{"ERROR alpha failed", "nginx: configuration file test failed", "could not connect to test_db", "error: must be specified"} {
		require.False(t, failedCheck(line), line)
	}
}

func TestRarityFallsWithEveryLineAndStaysPositive(t *testing.T) {
	for _, n := range []float64{1, 511, 512, 1 << 20, 1 << 31} {
		require.Positive(t, idf(n, n), n)
		for df := n; df > 0 && df > n-2000; df-- {
			require.Greater(t, idf(n, df-1), idf(n, df), "%v of %v", df, n)
		}
	}
}

// In a text of a million lines, of a long question's words only the rarest raise the score of the lines around them.
func TestCommonWordsOfALongQuestion(t *testing.T) {
	d, q := doc.New(strings.Repeat("\n", 1<<20)), &Question{}
	most := doc.SpreadSteps / len(d.Lines)
	r, hits := Relevance{Score: make([]float64, len(d.Lines))}, make([]Hit, most+1)
	for g := range hits {
		q.newGroup("alpha", 1)
		r.rarity = append(r.rarity, float64(1+(g+most)%len(hits))) // the second is the most common
		hits[g] = Hit{Line: int32(100 * g), Group: int16(g), Weight: 1}
	}
	r.near(d, q, hits, make([]step, len(d.Lines)), doc.Profile{Own: 1})
	for g, h := range hits {
		require.Equal(t, g != 1, r.Score[h.Line] > 0, g)
	}
}
