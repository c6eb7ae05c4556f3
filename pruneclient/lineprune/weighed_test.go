package lineprune_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/session"
	"github.com/mcp-pruner/mcp-pruner/tools/tokens"
)

// widgets is a program of 40 functions.
func widgets() string {
	var out strings.Builder
	out.WriteString("package widgets\n\nimport \"errors\"\n")
	for i := range 40 {
		fmt.Fprintf(&out, "\n// Widget%d is the one of shelf %d.\nfunc Widget%d(n int) (int, error) {\n\tif n > %d {\n\t\treturn 0, errors.New(\"too many of %d\")\n\t}\n\treturn n * %d, nil\n}\n", i, i, i, i, i, i)
	}
	return out.String()
}

func pruneWith(t *testing.T, call session.Origin, budget float64) lineprune.Result {
	t.Helper()
	res, err := lineprune.Prune(t.Context(), widgets(), "look at the file", lineprune.Auto, lineprune.Options{
		File: call.File(), Call: call, Budget: budget, Explain: true,
	})
	require.NoError(t, err)
	return res
}

// TestSessionSaysWhatTheQuestionDoesNot asks a question without usable terms: the session must supply them.
func TestSessionSaysWhatTheQuestionDoesNot(t *testing.T) {
	call := session.Origin{Tool: "Read", Args: map[string]any{"file_path": "/src/widgets.go"}, Context: []session.Event{
		{Kind: session.Say, Text: "Widget31 returns the wrong error, I will fix its check"},
		{Kind: session.Search, Text: "Widget31"},
	}}
	res := pruneWith(t, call, 0.1)
	lines := strings.Split(widgets(), "\n")
	found := false
	for _, n := range res.Kept {
		found = found || strings.HasPrefix(lines[n-1], "func Widget31(")
	}
	require.True(t, found, "kept %v", res.Kept)
	require.LessOrEqual(t, len(res.Blocks), 4, "few ranges")
}

func TestBudgetHoldsWithTheSession(t *testing.T) {
	call := session.Origin{Args: map[string]any{"file_path": "widgets.go"}}
	total := 0
	for line := range strings.SplitSeq(strings.TrimSuffix(widgets(), "\n"), "\n") {
		total += tokens.Line(line)
	}
	for _, budget := range []float64{0.05, 0.3, 0.5, 0.9} {
		used := 0
		for _, n := range pruneWith(t, call, budget).Kept {
			used += tokens.Line(strings.Split(widgets(), "\n")[n-1])
		}
		require.LessOrEqual(t, float64(used), budget*float64(total))
		require.Positive(t, used)
	}
}

func TestSealedLinesStayWithTheSession(t *testing.T) {
	text := widgets() + "⟦NO_PRUNE_BEGIN⟧\nkeep me\n⟦NO_PRUNE_END⟧\n" + widgets()
	res, err := lineprune.Prune(t.Context(), text, "Widget3", lineprune.Code, lineprune.Options{
		Call: session.Origin{Args: map[string]any{"file_path": "w.go"}}, Budget: 0.1,
	})
	require.NoError(t, err)
	sealed := strings.Count(widgets(), "\n") + 2
	require.Contains(t, res.Kept, sealed)
}

func TestEveryLineIsExplained(t *testing.T) {
	res := pruneWith(t, session.Origin{Args: map[string]any{"file_path": "widgets.go"}}, 0.3)
	require.Len(t, res.Lines, res.Total)
	for i, line := range res.Lines {
		require.NotEmpty(t, line.Why, "line %d", i+1)
	}
}

// TestWithoutACallTheRulesChoose checks that the weights do not rank a text without a call.
func TestWithoutACallTheRulesChoose(t *testing.T) {
	opts := lineprune.Options{File: "widgets.go", Budget: 0.3}
	survey, err := lineprune.Look(t.Context(), widgets(), "Widget7", lineprune.Code, opts)
	require.NoError(t, err)
	res, err := lineprune.Prune(t.Context(), widgets(), "Widget7", lineprune.Code, opts)
	require.NoError(t, err)
	require.Equal(t, survey.Choose(), res)
}

// TestPreciseQuestionsGoByTheRules checks that a session changes nothing for a question that was written
// for the text and names its subject.
func TestPreciseQuestionsGoByTheRules(t *testing.T) {
	opts := lineprune.Options{File: "widgets.go"}
	byRules, err := lineprune.Prune(t.Context(), widgets(), "what does the function Widget31 return", lineprune.Code, opts)
	require.NoError(t, err)
	require.GreaterOrEqual(t, byRules.Confidence, 0.6)
	opts.Call = session.Origin{Tool: "read", Args: map[string]any{"file_path": "widgets.go"}, Asked: true, Context: []session.Event{
		{Kind: session.Say, Text: "how does Widget3 fail"},
	}}
	asked, err := lineprune.Prune(t.Context(), widgets(), "what does the function Widget31 return", lineprune.Code, opts)
	require.NoError(t, err)
	require.Equal(t, byRules.Kept, asked.Kept)
}

// TestPlainWordsAmongSimilarFunctions asks without naming a function, where 120 functions are alike and the session is new
// or about something else. Such a question is neither precise nor hopeless: the text is cut, and the answer stays.
func TestPlainWordsAmongSimilarFunctions(t *testing.T) {
	var file strings.Builder
	file.WriteString("package store\n")
	for i := range 120 {
		fmt.Fprintf(&file, "\n// handler%d answers request kind %d.\nfunc handler%d(w writer, r *request) error {\n\tif r == nil {\n\t\treturn errNoRequest\n\t}\n\treturn w.write(%d)\n}\n", i, i, i, i)
		if i == 60 {
			file.WriteString("\n// openLedger opens the ledger and counts retries.\nfunc openLedger(path string) (*ledger, error) {\n\tretries := 0\n\tfor retries < 3 {\n\t\tretries++\n\t}\n\treturn &ledger{retries}, nil\n}\n")
		}
	}
	lines := strings.Split(file.String(), "\n")
	for _, question := range []string{"where are retries counted", "retries", "how are retries counted?"} {
		for _, before := range [][]session.Event{nil, {{Kind: session.Say, Text: "which tests of the parser fail"}, {Kind: session.Read, File: "parser.go"}}} {
			res, err := lineprune.Prune(t.Context(), file.String(), question, lineprune.Auto, lineprune.Options{
				File: "store.go", Call: session.Origin{Tool: "read", Args: map[string]any{"file_path": "store.go"}, Context: before, Asked: true},
			})
			require.NoError(t, err)
			require.Less(t, len(res.Kept), len(lines)/4, "%q after %v: %v", question, before, res.Warnings)
			for i, line := range lines {
				if strings.Contains(line, "retries") {
					require.Contains(t, res.Kept, i+1, "%q after %v", question, before)
				}
			}
		}
	}
}
