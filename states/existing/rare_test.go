package existing

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history"
	"github.com/mcp-pruner/mcp-pruner/tools/tokens"
)

// manyRuns is the output of a test run that is repeated and fails the same way each time.
func manyRuns(times int) string {
	var run, out strings.Builder
	for i := range 80 {
		fmt.Fprintf(&run, "=== RUN   TestCase%d\n--- PASS: TestCase%d (0.00s)\n", i, i)
	}
	run.WriteString("=== RUN   TestLedger\n    ledger_test.go:42: openLedger: want 3 retries, got 4\n--- FAIL: TestLedger (0.01s)\n")
	for i := range 80 {
		fmt.Fprintf(&run, "=== RUN   TestMore%d\n--- PASS: TestMore%d (0.00s)\n", i, i)
	}
	for range times {
		out.WriteString(run.String() + "FAIL\n")
	}
	return out.String()
}

// TestRepeatedFailuresComeWithTheirReason: however often a long output repeats a failure, the line that says why is there.
func TestRepeatedFailuresComeWithTheirReason(t *testing.T) {
	for _, times := range []int{1, 3, 4, 90} {
		for _, question := range []string{"which test fails, and why?", "And now all of them: which test fails, and why?", "I run it."} {
			body := NewBody(history.Bash, manyRuns(times))
			cut, err := Prune(t.Context(), Result{Call: history.ParseCall("Bash", map[string]any{"command": "sh many.sh"}), Body: body, Question: question, Most: 1700})
			require.NoError(t, err)
			text := body.Shown(cut.Kept)
			assert.Contains(t, text, "want 3 retries, got 4", "%d times, %q", times, question)
			assert.Contains(t, text, "--- FAIL: TestLedger", "%d times, %q", times, question)
		}
	}
}

// TestAListBeyondTheClientsLimitSaysHowLongItIs: of a list that a client would show only a part of, a part is kept.
func TestAListBeyondTheClientsLimitSaysHowLongItIs(t *testing.T) {
	var out strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&out, "./internal/part%d/file%d.go\n", i%40, i)
	}
	args := map[string]any{"command": "find . -name '*.go'"}
	r := Result{Call: history.ParseCall("Bash", args), Args: args, Body: NewBody(history.Bash, out.String()), Question: "List all files of part7."}
	cut, err := Prune(t.Context(), r)
	require.NoError(t, err)
	assert.True(t, cut.Whole(), "as long as the client shows all")
	r.Most = 1700
	cut, err = Prune(t.Context(), r)
	require.NoError(t, err)
	text := Text(r.Body, cut, ExampleWay)
	assert.LessOrEqual(t, tokens.EstimateWell(text), 1800)
	assert.Regexp(t, `^\[\d+ of 3000 lines; all: `, text)
	assert.Contains(t, text, "./internal/part7/file7.go")
}

// TestRareFormsFirst: a form of a few lines goes before the first line of one that is repeated, and a failure before both.
func TestRareFormsFirst(t *testing.T) {
	var out strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&out, "GET /item/%d 200\n", i)
		if i%200 == 0 {
			out.WriteString("the cache is emptied\n")
		}
	}
	out.WriteString("listening on port 80\nerror: the disk is full\n")
	body := NewBody(history.Bash, out.String())
	assert.Equal(t, []int{1007, 1006, 2}, body.rarest())
}
