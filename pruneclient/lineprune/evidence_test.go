package lineprune

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/doc"
)

// program returns 60 functions unrelated to any question, with the given lines inserted in the middle.
func program(lines ...string) string {
	var b strings.Builder
	for i := range 60 {
		if i == 30 {
			b.WriteString(strings.Join(lines, "\n") + "\n")
		}
		b.WriteString("func alpha() {\n\tbeta(gamma, delta)\n}\n\n")
	}
	return b.String()
}

func confidenceIn(t *testing.T, text, question string) float64 {
	t.Helper()
	_, res := keptText(t, text, question, Options{})
	return res.Confidence
}

func TestWordsThatFollowEachOtherAreEvidence(t *testing.T) {
	const question = "where is the websocket handshake throttled by tenant?"
	phrase := confidenceIn(t, program("// websocketHandshake is all there is"), question)
	apart := confidenceIn(t, program("// websocket is what they said of the first, handshake"), question)
	turned := confidenceIn(t, program("// handshakeWebsocket is all there is"), question)
	require.Greater(t, phrase, apart)
	require.Greater(t, phrase, turned)
	require.InDelta(t, apart, turned, 1e-9, "both have the words in one line, and no phrase")
}

func TestNameOfADefinitionIsEvidence(t *testing.T) {
	const question = "where is the websocket throttled by tenant?"
	named := confidenceIn(t, program("func websocket() {", "\tbeta(gamma, delta)", "}"), question)
	used := confidenceIn(t, program("func alpha() {", "\twebsocket(gamma, delta)", "}"), question)
	require.Greater(t, named, used)
}

func TestPathOfMatchesIsEvidence(t *testing.T) {
	list := func(path string) string {
		var b strings.Builder
		for i := range 80 {
			if i == 40 {
				b.WriteString(path + ":7:\tbeta(gamma, websocket)\n")
			}
			b.WriteString("src/alpha.go:12:\tbeta(gamma, delta)\n")
		}
		return b.String()
	}
	const question = "where is the websocket throttled by tenant?"
	require.Greater(t, confidenceIn(t, list("src/tenant.go"), question), confidenceIn(t, list("src/omega.go"), question))
}

// For a question of a single word, finding that word is complete evidence of an answer.
func TestWholeQuestionFoundIsAnAnswer(t *testing.T) {
	text := strings.Repeat(program(), 40) + program("// about the websocket")
	for _, question := range []string{"websocket", "about the websocket?", "what does websocket mean", "websocket example", "how websocket works in detail"} {
		_, res := keptText(t, text, question, Options{})
		require.GreaterOrEqual(t, res.Confidence, doc.MinConfidence, question)
		require.False(t, res.Whole(), question)
	}
	_, res := keptText(t, text, "websocket throttled by tenant?", Options{})
	require.True(t, res.Whole(), "most of it is missing in a long text")
}
