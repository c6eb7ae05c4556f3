package lineprune

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/doc"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/learned"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/rank"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/session"
)

func shareAt(tokens int, in learned.Input) int64 { return shareOfKind(doc.Code, tokens, in) }

func shareOfKind(kind doc.Kind, tokens int, in learned.Input) int64 {
	in.Lines, in.Tokens = []string{"x"}, []int32{2}
	c := input{Text: &rank.Text{Doc: &doc.Document{Total: tokens}, Kind: kind}}
	return c.share(learned.Embedded(len(in.Events) > 0).Rank(&in))
}

// The threshold on the gain per token, in percent of the text's average, by length of the text.
func TestHowDeepTextsAreCut(t *testing.T) {
	before := []session.Event{{Kind: session.Say, Text: "look at the retries"}}
	file := learned.Input{File: "a.go", Events: before}
	require.EqualValues(t, 60, shareAt(2000, file))
	require.EqualValues(t, 120, shareAt(8000, file), "four times as long, twice the price")
	require.EqualValues(t, 30, shareAt(500, file))
	require.EqualValues(t, 250, shareAt(1_000_000, file), "at most")
	require.EqualValues(t, 15, shareAt(10, file), "at least")

	careful := file
	careful.Careful = true
	require.EqualValues(t, 54, shareAt(2000, careful), "a file that is being worked on")
	bold := file
	bold.Boldness = 2
	require.EqualValues(t, 120, shareAt(2000, bold))

	command := learned.Input{Command: "make", Events: before}
	require.EqualValues(t, 78, shareAt(2000, command), "a file that a command printed")
	require.EqualValues(t, 100, shareOfKind(doc.Grep, 2000, command))
	require.EqualValues(t, 117, shareOfKind(doc.Logs, 2000, command), "little of a log is needed later")
	asked := learned.Input{File: "a.go", Events: before, Asked: true}
	require.EqualValues(t, 120, shareAt(8000, asked), "a question for the text")
	require.EqualValues(t, 70, shareAt(2000, learned.Input{File: "a.go"}), "no session")
	require.EqualValues(t, 140, shareAt(8000, learned.Input{File: "a.go"}))
}

func TestWhoseDoubtsBringTheTextBackWhole(t *testing.T) {
	before := []session.Event{{Kind: session.Say, Text: "look at the retries"}}
	doubts := func(confidence float64, in learned.Input) bool {
		in.Lines, in.Tokens = []string{"x"}, []int32{2}
		c := input{confidence: confidence}
		return c.doubts(learned.Embedded(len(in.Events) > 0).Rank(&in))
	}
	require.True(t, doubts(0.3, learned.Input{}), "a question without a session")
	require.False(t, doubts(0.45, learned.Input{}))
	require.False(t, doubts(0, learned.Input{Events: before}), "words of a session need not name what is needed")
	require.True(t, doubts(0.45, learned.Input{Events: before, Asked: true}), "a question written for the text has to")
}
