package rank

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/doc"
)

func TestOneSlip(t *testing.T) {
	for _, pair := range [][2]string{{"websocket", "websokcet"}, {"websocket", "websoket"}, {"websocket", "websoccket"}, {"websocket", "webzocket"}} {
		require.True(t, oneSlip(pair[0], pair[1]), pair)
		require.True(t, oneSlip(pair[1], pair[0]), pair)
	}
	for _, pair := range [][2]string{{"websocket", "websocket"}, {"websocket", "ebsocket"}, {"websocket", "wesbokcet"}, {"throttle", "trhottles"}, {"a", ""}} {
		require.False(t, oneSlip(pair[0], pair[1]), pair)
	}
}

func hitsOf(t *testing.T, question, text string) []int32 {
	t.Helper()
	m, err := Match(context.Background(), doc.New(text), text, ParseQuestion(question))
	require.NoError(t, err)
	var lines []int32
	for _, h := range m.Hits {
		lines = append(lines, h.Line)
	}
	return lines
}

func TestMisspeltWordsAreFound(t *testing.T) {
	const text = "alpha\nthe websockets are throttled\nbeta\nfunc MaxThrottles() {}\n"
	require.Equal(t, []int32{1}, hitsOf(t, "wesbocket", text))
	require.Equal(t, []int32{1, 3}, hitsOf(t, "throtled", text))
	require.Contains(t, hitsOf(t, "where is MaxThrotles", text), int32(3))
	require.Empty(t, hitsOf(t, "webhooks", text))
	require.Empty(t, hitsOf(t, "wesbocket", "the bestsocket"), "the first letter is seldom wrong")
}

// A word that occurs in the text is never treated as misspelt.
func TestWordsThatAreThereAreNoTypos(t *testing.T) {
	require.Equal(t, []int32{0}, hitsOf(t, "throttle", "throttle\nthrottel\n"))
}

// A misspelt word of every question is not looked for, and is no name that the text lacks.
func TestMisspeltTalkIsTalk(t *testing.T) {
	for question, right := range map[string]string{
		"what does the documetnation say of quotas": "what does the documentation say of quotas",
		"which functoin is respnsible for quotas":   "which function is responsible for quotas",
	} {
		require.Equal(t, ParseQuestion(right).Asked(), ParseQuestion(question).Asked(), question)
		require.Greater(t, ParseWords(question).Asked(), ParseQuestion(right).Asked(), "agents make no typing errors")
	}
	for _, name := range []string{"handed", "improves"} { // not handled, and a form of improve
		require.Equal(t, ParseWords(name).Asked(), ParseQuestion(name).Asked(), name)
	}
}
