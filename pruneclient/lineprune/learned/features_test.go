package learned

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/session"
)

func inputOf(text string) *Input {
	in := &Input{Lines: strings.Split(text, "\n")}
	for _, line := range in.Lines {
		in.Tokens = append(in.Tokens, int32(len(strings.Fields(line))+1))
		in.Relevant = append(in.Relevant, 0)
	}
	return in
}

func TestEveryFeatureHasOneName(t *testing.T) {
	names := Names()
	require.Len(t, names, Width)
	seen := map[string]bool{}
	for _, name := range names {
		require.False(t, seen[name], name)
		seen[name] = true
	}
	require.Equal(t, "rule", names[fRule])
	require.Equal(t, "number-near", names[fNumberNear])
	require.Equal(t, "new-around", names[fNovelAround])
}

func TestSessionPointsAtLines(t *testing.T) {
	in := inputOf("import os\n\ndef load(path):\n    return open(path)\n\ndef frobnicate(widget):\n    widget.spin()\n    return widget")
	in.File, in.FirstLine = "/src/app/widgets.py", 101
	in.Events = []session.Event{
		{Kind: session.Say, Text: "the crash is in widgets.py around line 107, when frobnicate runs"},
		{Kind: session.Edit, File: "app/widgets.py", Text: "    return open(path)\n    return open(path, 'rb')"},
		{Kind: session.Result, Text: "x\ndef load(path):\ny"},
	}
	rows := tableOf(in)
	require.EqualValues(t, 0, rows.row(6)[fNumberNear], "line 107 is the seventh")
	require.EqualValues(t, -1, rows.row(5)[fNumberNear], "the one before it")
	require.EqualValues(t, 1, rows.row(6)[fNumberAge])
	require.EqualValues(t, 1, rows.row(3)[fEdited], "was edited")
	require.EqualValues(t, 0, rows.row(6)[fEdited])
	require.EqualValues(t, 1, rows.row(2)[fShown], "was shown")
	require.EqualValues(t, 1, rows.row(6)[fFileAge], "the file was named in the latest event")
	saw := int(saidNow)*perSource + fOwn
	require.Positive(t, rows.row(5)[saw], "frobnicate was said")
	require.Zero(t, rows.row(3)[saw])
}

func TestMatchesOfASearch(t *testing.T) {
	in := inputOf("lib/a.go:12:func Open() {\nlib/a.go:40:\tOpen()\nlib/a_test.go:7:\tOpen()")
	in.Kind = Grep
	in.Events = []session.Event{{Kind: session.Say, Text: "see lib/a.go:40 for the caller"}}
	rows := tableOf(in)
	require.EqualValues(t, 1, rows.row(1)[fPlaceAge], "was named with its line")
	require.EqualValues(t, never, rows.row(0)[fPlaceAge])
	require.EqualValues(t, 2, rows.row(0)[fPathHits])
	require.EqualValues(t, 1, rows.row(2)[fPathFirst])
	require.EqualValues(t, 1, rows.row(2)[fPathTest])
	require.Equal(t, definition, rows.row(0)[fWhat], "what is looked at is the text after path and number")
}

func TestUnusualTexts(t *testing.T) {
	for _, text := range []string{"", "\n\n\n", "x", strings.Repeat("a", 5000), "\xff\xfe\n\x00", "99999999999999:x\n:5:\n1:2:3", "日本語\n編集"} {
		in := inputOf(text)
		in.Question, in.Command, in.File = text, text, text
		in.Events = []session.Event{{Kind: session.Say, Text: text}, {Kind: session.Edit, Text: text, File: text}, {Kind: "unheard of", Text: text}}
		require.Len(t, Table(in), len(in.Lines)*Width, "%q", text)
	}
}

func BenchmarkFeatures(b *testing.B) {
	var text strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&text, "\tif err := session%d.Handle(request, retries[%d]); err != nil {\n", i%17, i)
	}
	in := inputOf(text.String())
	in.Question, in.File = "how are retries of a request handled", "handle.go"
	for i := range 40 {
		in.Events = append(in.Events, session.Event{Kind: session.Say, Text: fmt.Sprintf("session%d handles the request and its retries are counted", i)})
	}
	for b.Loop() {
		Table(in)
	}
}
