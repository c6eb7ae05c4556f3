package tools

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/tools/grep"
)

func match(path string, line int, column *int, text string) grep.Match {
	return grep.Match{Path: path, Line: line, Column: column, Text: text}
}

func TestGrepPrune(t *testing.T) {
	raw := (&grepOutput{
		Tool: "grep", mode: grep.Content,
		Matches: []grep.Match{
			match("a.go", 3, new(2), "12:34: x"),
			match("a.go", 5, nil, "7:text"),
			match("b:1:c", 9, new(1), "y"),
		},
		Context: []grep.Line{{Path: "a.go", Line: 4, Text: "between"}},
	}).rendered()
	assert.Equal(t, "a.go:3:2:12:34: x\na.go-4-between\na.go:5:7:text\n--\nb:1:c:9:1:y", raw.Code())
	for _, c := range []struct {
		about, pruned string
		matches       []grep.Match
		context       int
	}{
		{"all", raw.Code(), raw.Matches, 1},
		{"ended and CRLF", strings.ReplaceAll(raw.Code(), "\n", "\r\n") + "\r\n", raw.Matches, 1},
		{"some", "(filtered 2 lines)\na.go:5:7:text\n\n  (filtered 1 line) \n", raw.Matches[1:2], 0},
		{"markers only", "(filtered 4 lines)", []grep.Match{}, 0},
		{"nothing", "", []grep.Match{}, 0},
		{"blank", " \n\n", []grep.Match{}, 0},
		{"another line of a known path", "b:1:c:8:2:z", []grep.Match{match("b:1:c", 8, new(2), "z")}, 0},
		{"an unknown path", "new.go:8:z", []grep.Match{match("new.go", 8, nil, "z")}, 0},
		{"no text", "new.go:8:", []grep.Match{match("new.go", 8, nil, "")}, 0},
	} {
		out, err := raw.Prune(c.pruned)
		require.NoError(t, err, c.about)
		got := out.(*grepOutput)
		assert.Equal(t, c.matches, got.Matches, c.about)
		assert.Len(t, got.Context, c.context, c.about)
		assert.Equal(t, len(c.matches), got.MatchCount, c.about)
		assert.Equal(t, c.pruned, out.Text(), "the text is exactly what the pruner returned")
	}
	for _, bad := range []string{"hello", "a.go", "a.go:x:y", ":3:y", "a.go:0:y", "a.go-9-unknown context", "a.go:99999999999999999999:x", "a.go:5:7:text\n...", "(filtered lines)"} {
		_, err := raw.Prune(bad)
		assert.Error(t, err, bad)
		if err != nil {
			assert.NotContains(t, err.Error(), bad)
		}
	}
}

func TestGrepPruneOfNamesAndCounts(t *testing.T) {
	files := (&grepOutput{mode: grep.Files, Files: []string{"a", "b:1", "c\nd"}}).rendered()
	out := prunedTo(t, files, "(filtered 1 line)\nc\nd")
	assert.Equal(t, []string{"c\nd"}, out.(*grepOutput).Files)
	_, err := files.Prune("unknown")
	assert.Error(t, err)

	counts := (&grepOutput{mode: grep.Counts, Counts: []grep.Count{{Path: "a", Count: 1}, {Path: "b:1", Count: 2}}}).rendered()
	out = prunedTo(t, counts, "b:1:2\n")
	assert.Equal(t, []grep.Count{{Path: "b:1", Count: 2}}, out.(*grepOutput).Counts)
	_, err = counts.Prune("b")
	assert.Error(t, err)
}

// TestGrepPrunedToNothing: an output of which the pruner kept nothing differs from one
// without matches.
func TestGrepPrunedToNothing(t *testing.T) {
	matches := []grep.Match{match("a", 1, nil, "x"), match("a", 2, nil, "x")}
	const again = "; call again without context_focus_question for all of it"
	for _, c := range []struct {
		raw            grepOutput
		pruned, notice string
	}{
		{grepOutput{mode: grep.Content, Matches: matches}, "", "the pruner kept none of the 2 matches" + again},
		{grepOutput{mode: grep.Content, Matches: matches[:1]}, "\n", "the pruner kept none of the one match" + again},
		{grepOutput{mode: grep.Files, Files: []string{"a", "b"}}, "", "the pruner kept none of the 2 files" + again},
		{grepOutput{mode: grep.Counts, Counts: []grep.Count{{Path: "a", Count: 1}}}, "", "the pruner kept none of the one file" + again},
		{grepOutput{mode: grep.Content, Matches: matches}, "(filtered 2 lines)", ""},
		{grepOutput{mode: grep.Content, Matches: matches, Truncated: true}, "", "the pruner kept none of the 2 matches" + again},
	} {
		out, err := c.raw.rendered().Prune(c.pruned)
		require.NoError(t, err)
		assert.Equal(t, c.notice, out.(Noticer).Notice())
		assert.Equal(t, c.pruned, out.Text())
	}
	assert.Equal(t, "no matches", (&grepOutput{mode: grep.Content}).rendered().Notice())
}

// FuzzGrepRoundTrip: a rendered result is parsed back to the same result, for any paths and
// texts, and no answer of a pruner makes the parser panic.
func FuzzGrepRoundTrip(f *testing.F) {
	f.Add("a.go", 3, 2, "text", "b:1:c", "1:2:3", "a.go:3:x")
	f.Add("x\ny:1:", 1, 0, "", "x", "y:1::1:", "(filtered 3 lines)")
	f.Add("--", 1, 1, "--", "--", "", "--\n")
	f.Fuzz(func(t *testing.T, path string, line, col int, text, path2, text2, answer string) {
		if path == "" || path2 == "" || line < 1 || strings.ContainsAny(text+text2, "\r\n") || strings.Contains(path+path2, "\r") {
			t.Skip()
		}
		var at *int
		if col > 0 {
			at = &col
		}
		out := (&grepOutput{mode: grep.Content, Matches: []grep.Match{match(path, line, at, text), match(path2, line, nil, text2)}}).rendered()
		again := prunedTo(t, out, out.Code())
		if out.Matches[0].String() != out.Matches[1].String() {
			require.Equal(t, out.Matches, again.(*grepOutput).Matches)
		}
		if pruned, err := out.Prune(answer); err == nil {
			require.LessOrEqual(t, len(pruned.(*grepOutput).Matches), strings.Count(answer, "\n")+1)
		}
	})
}
