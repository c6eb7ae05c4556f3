package lineprune

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/doc"
)

// scoreOf returns the score of a line of a program asked about a websocket.
func scoreOf(t *testing.T, text, line string) float64 {
	t.Helper()
	s, err := Look(t.Context(), text, "websocket", Code, Options{})
	require.NoError(t, err)
	i := slices.Index(doc.Lines(text), line)
	require.GreaterOrEqual(t, i, 0)
	return s.Score[i]
}

// A comment counts about six tenths of a statement of the same words.
func TestACommentCountsLessThanAStatement(t *testing.T) {
	score := func(line string) float64 {
		return scoreOf(t, program("// one", line, "// two"), line)
	}
	comment, statement := score("// websocket"), score("++ websocket")
	require.InDelta(t, 0.62, comment/statement, 0.02)
}

// A line between two relevant ones scores nine tenths of the lower one.
func TestALineBetweenRelevantOnesIsRelevant(t *testing.T) {
	text := program("open(websocket)", "// and", "close(websocket)")
	lower := min(scoreOf(t, text, "open(websocket)"), scoreOf(t, text, "close(websocket)"))
	require.InDelta(t, 0.9, scoreOf(t, text, "// and")/lower, 1e-9)
}

// A phrase of two rare words, 7 bits each, adds 0.7 times the root of 7 to the evidence.
func TestAPhraseIsWorthTheRootOfItsBits(t *testing.T) {
	const question = "where is the websocket handshake throttled by tenant?"
	evidence := func(comment string) float64 {
		c := confidenceIn(t, program(comment), question)
		return doc.Ranking.Code.Sure * c / (1 - c)
	}
	added := evidence("// websocketHandshake is all there is") - evidence("// handshakeWebsocket is all there is")
	require.InDelta(t, 0.7*math.Sqrt(7), added, 1e-9)
}

// The three lines before and after the report of a failure say what failed. The words stand far from each
// other, so that they are no evidence by themselves.
func TestHowFarAFailureReaches(t *testing.T) {
	const report = "omega.c:7:3: error: 'beta' undeclared\n"
	routine := strings.Repeat("gcc -O2 -c -o alpha.o alpha.c\n", 100)
	for distance, whole := range map[int]bool{3: false, 4: true} {
		between := strings.Repeat("gcc -O2 -c -o alpha.o alpha.c\n", distance-1)
		log := routine
		for _, word := range []string{"handler", "lease", "tenant"} {
			log += word + "\n" + between + report + routine + report + between + word + "\n" + routine
		}
		res := prune(t, log, "Why did the handler fail with a lease of the tenant?", Logs, Options{})
		require.Equal(t, whole, res.Whole(), "%d lines", distance)
	}
}
