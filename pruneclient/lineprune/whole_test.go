package lineprune

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/session"
)

// times returns a text n times, with its number in place of each %d.
func times(n int, text string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.ReplaceAll(text, "%d", fmt.Sprint(i+1)))
	}
	return b.String()
}

// All records of a list stay where all are asked for. A program is no list, and neither is the log of a run.
func TestRecordsThatAreAskedFor(t *testing.T) {
	for name, c := range map[string]struct {
		text  string
		whole bool
	}{
		"matches":        {times(90, "src/a%d.go:%d:\ttotal := oldName(ctx)\n"), true},
		"bullets":        {times(90, "- [ ] settle the refund %d before the mail is sent\n"), true},
		"paragraphs":     {times(40, "comment %d by ada:\nplease wrap this error, it says nothing\nof the file it is about\n\n"), true},
		"bodies":         {times(40, "@ada%d on store.go:\n  the name says nothing\n\n  see the other one, too\n"), true},
		"findings":       {times(40, "warning: redundant clone\n  --> src/a%d.rs:%d:5\n   |\n%d |     let o = order.clone();\n   |\n\n"), true},
		"versions":       {times(90, " lib-%d   ^1.%d.0  →  ^2.0.0\n"), true},
		"a test run":     {times(90, "=== RUN   TestStep%d\n--- PASS: TestStep%d (0.00s)\n") + "    a_test.go:7: got 3, want 4\n--- FAIL: TestLast (0.00s)\nFAIL\n", false},
		"a build":        {times(90, "   Compiling crate-%d v1.0.%d\n") + "error[E0308]: mismatched types\n", false},
		"a server's log": {times(90, "2026-11-28T10:00:00Z INFO request %d served in 12 ms\n") + "2026-11-28T10:00:01Z ERROR request failed\n", false},
		"a program":      {times(40, "func step%d(order Order) error {\n\treturn settle(order, %d)\n}\n\n"), false},
	} {
		for _, question := range []string{"List all of them: what is wrong?", "what is wrong with the order of the last one?"} {
			res := prune(t, c.text, question, Auto, Options{})
			require.Equal(t, c.whole && strings.HasPrefix(question, "List"), slices.Contains(res.Warnings, AskedWhole), "%s: %s: %v", name, question, res.Warnings)
		}
	}
}

// A budget is a hard limit, and a client that shows a part only shows the part that fits the question best.
func TestABudgetOutweighsWhatIsAskedFor(t *testing.T) {
	text := times(400, "./src/part%d/file.go\n") + "./src/ledger/retry.go\n"
	opts := Options{Call: session.Origin{Tool: "bash", Args: map[string]any{"command": "find ."}}}
	res := prune(t, text, "where are retries", Auto, opts)
	require.Equal(t, []string{AskedWhole}, res.Warnings)
	require.Equal(t, "not pruned: a list of names or counts", res.Note)
	opts.Budget = 0.2
	kept, res := keptText(t, text, "where are retries", opts)
	require.True(t, kept["./src/ledger/retry.go"])
	require.Less(t, len(res.Kept), 100)
}

// What a search shows around a match belongs to it, also where no line names the file.
func TestAPassageStaysWithItsMatch(t *testing.T) {
	numbered := times(200, "1%d04-\tstartTurn%d(ctx)\n1%d05:\tHandleTurnEnd(ctx, session, %d)\n1%d06-\tmetrics.Done%d()\n1%d07-}\n--\n") +
		"904-\tlog.Printf(\"ends\")\n905:\tif err := HandleTurnEnd(ctx, session, turn); err != nil {\n906-\t\tSaveSessionState(ctx, failed)\n907-\t\treturn err\n"
	bare := regexp.MustCompile(`(?m)^\d+[:-]`).ReplaceAllString(numbered, "")
	for _, text := range []string{numbered, bare} {
		opts := Options{Call: session.Origin{Tool: "bash", Args: map[string]any{"command": "grep -B 1 -A 2 HandleTurnEnd turn.go"},
			Context: []session.Event{{Kind: session.Say, Text: "I look what becomes of err"}}}}
		res := prune(t, text, "what becomes of err", Auto, opts)
		require.False(t, res.Whole(), "%s: %s", res.Note, text[:80])
		shown := Render(text, res, RenderOptions{})
		require.Contains(t, shown, "if err := HandleTurnEnd")
		require.Contains(t, shown, "SaveSessionState(ctx, failed)\n")
	}
}

// A record of which a line is kept is kept with its head and body, also where not all were asked for.
func TestARecordKeepsItsHeadAndBody(t *testing.T) {
	var b strings.Builder
	for i := range 60 {
		said := []string{"The name says nothing.", "Wrap this error.", "A test is missing.", "Why is this exported?"}[i%4]
		if i == 37 {
			said = "This lock is held while mail is sent."
		}
		fmt.Fprintf(&b, "%s commented on part%d.go line %d:\n%s\nI would call it %s instead.\n--\n",
			[]string{"ada", "grace", "alan"}[i%3], i, 10+7*i, said, []string{"settle", "balance", "expire", "merge", "close"}[i%5])
	}
	res := prune(t, b.String(), "what is said about the lock while mail is sent", Auto, Options{Command: "gh pr view --comments"})
	require.False(t, res.Whole(), res.Note)
	require.Contains(t, Render(b.String(), res, RenderOptions{}),
		"grace commented on part37.go line 269:\nThis lock is held while mail is sent.\nI would call it expire instead.\n")
}

// A short file stays whole, however it is printed, unless a question was written for it.
func TestAShortFileStaysWhole(t *testing.T) {
	for lines, whole := range map[int]bool{100: true, 140: false} {
		text := strings.Repeat("func settle(ctx context.Context) error { return exec(ctx, \"update refunds\") }\n", lines-1) + "func last() {}\n"
		for _, args := range []map[string]any{{"command": "cat store.go"}, {"file_path": "store.go"}} {
			opts := Options{File: "store.go", Call: session.Origin{Args: args, Context: []session.Event{{Kind: session.Say, Text: "last"}}}}
			res := prune(t, text, "how does last work", Auto, opts)
			require.Equal(t, whole, slices.Contains(res.Warnings, AskedWhole), "%d lines of %v: %v", lines, args, res.Warnings)
			opts.Call.Asked = true
			require.NotContains(t, prune(t, text, "how does last work", Auto, opts).Warnings, AskedWhole)
		}
	}
}

// TestAPartThatTheCallBoundedStaysWhole has a short part between long ones: only they are cut.
func TestAPartThatTheCallBoundedStaysWhole(t *testing.T) {
	text := times(400, "unit %d is built\n") + "== tags ==\nv5\nv4\nv3\nv2\nv1\n== log ==\n" +
		times(400, "step %d is done\n") + "error: retry.go:7: too many retries\n" + times(40, "step %d is left\n")
	const command = "make; echo '== tags =='; git tag | head -5; echo '== log =='; cat build.log"
	kept, res := keptText(t, text, "why does the build fail", Options{Call: session.Origin{Tool: "bash", Args: map[string]any{"command": command}}})
	require.False(t, res.Whole())
	for _, line := range []string{"v5", "v4", "v3", "v2", "v1", "error: retry.go:7: too many retries"} {
		require.True(t, kept[line], line)
	}
	kept, _ = keptText(t, text, "why does the build fail", Options{Call: session.Origin{Tool: "bash", Args: map[string]any{"command": "./report"}}})
	require.False(t, kept["v3"], "nothing says that it was asked for")
}
