package pruneclient_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/pruneclient"
)

// ledger returns a long file with one function about refunds.
func ledger() string {
	var b strings.Builder
	for i := range 120 {
		fmt.Fprintf(&b, "func step%d(n int) int {\n\tn += %d\n\tlog(n)\n\treturn n\n}\n\n", i, i)
		if i == 60 {
			b.WriteString("// refund gives the customer the deposit back.\nfunc refund(customer string) error {\n\treturn bank.Return(customer, deposit)\n}\n\n")
		}
	}
	return b.String()
}

const refundQuestion = "where does the customer get a refund of the deposit?"

func embed(t *testing.T, req pruneclient.Request) string {
	t.Helper()
	res, err := pruneclient.NewEmbedded(0).Prune(context.Background(), req)
	require.NoError(t, err)
	return res.Text
}

func TestEmbeddedBeginsWithWhatWasKept(t *testing.T) {
	for name, c := range map[string]struct {
		req  pruneclient.Request
		rest string
		mark string
	}{
		"file":           {pruneclient.Request{File: "ledger.go"}, `"... 1-366" = left out: read start_line=1 end_line=366]`, "... 1-366\n"},
		"command":        {pruneclient.Request{Command: "cat ledger.go"}, `"... 1-366" = left out]`, "... 1-366\n"},
		"recovery":       {pruneclient.Request{File: "ledger.go", RecoveryID: "prn_7"}, `: read file_path=prn_7 start_line=1 end_line=366]`, "... 1-366\n"},
		"part":           {pruneclient.Request{File: "ledger.go", FirstLine: 40}, `"... 40-405" = left out: read start_line=40 end_line=405]`, "... 40-405\n"},
		"part, recovery": {pruneclient.Request{File: "ledger.go", FirstLine: 40, RecoveryID: "prn_7"}, `: read start_line=40 end_line=405]`, "... 40-405\n"},
		"text only":      {pruneclient.Request{}, `"... 1-366" = left out]`, "... 1-366\n"},
	} {
		t.Run(name, func(t *testing.T) {
			c.req.Text, c.req.Question = ledger(), refundQuestion
			got := embed(t, c.req)
			first, body, _ := strings.Cut(got, "\n")
			require.Regexp(t, `^\[pruned: \d+ of 725 lines; "\.\.\. \d+-\d+" = left out`, first)
			require.Contains(t, first, c.rest)
			require.True(t, strings.HasPrefix(body, strings.TrimSuffix(c.mark, "\n")), body)
			require.Contains(t, body, "func refund(customer string) error {\n\treturn bank.Return(customer, deposit)\n}")
			require.Less(t, len(got), len(c.req.Text)/4)
		})
	}
}

// A text that comes back whole has neither header nor markers.
func TestEmbeddedReturnsWholeTextsUntouched(t *testing.T) {
	for name, req := range map[string]pruneclient.Request{
		"no answer": {Text: ledger(), Question: "how are northern lights photographed?", File: "ledger.go"},
		"short":     {Text: "a\r\nb\n\n", Question: "b"},
		"empty":     {Question: "anything"},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, req.Text, embed(t, req)) })
	}
}

func TestEmbeddedSaysWhyATextIsWhole(t *testing.T) {
	for question, want := range map[string]string{
		"how are northern lights photographed?": "not pruned: `northern` is nowhere in it; name what you seek as the file does",
		"what does log(n) do":                   "not pruned: most of it may answer",
	} {
		res, err := pruneclient.NewEmbedded(0).Prune(context.Background(), pruneclient.Request{Text: ledger(), Question: question})
		require.NoError(t, err)
		require.Equal(t, want, res.Note, question)
	}
	res, err := pruneclient.NewEmbedded(0).Prune(context.Background(), pruneclient.Request{Text: ledger(), Question: refundQuestion})
	require.NoError(t, err)
	require.Empty(t, res.Note)
}

// Matches are returned without header and markers, so that they can be parsed again.
func TestEmbeddedKeepsOnlyMatchesOfGrep(t *testing.T) {
	var b strings.Builder
	for i := range 100 {
		fmt.Fprintf(&b, "pkg/a%d.go:%d:5:\tcustomer := load%d()\n", i/10, i+1, i)
	}
	b.WriteString("pkg/refund.go:12:2:\treturn bank.Refund(customer, deposit)\n")
	got := embed(t, pruneclient.Request{Text: b.String(), Question: refundQuestion, Grep: true, RecoveryID: "prn_7"})
	require.Less(t, len(got), b.Len()/2)
	require.Contains(t, got, "pkg/refund.go:12:2:")
	for line := range strings.Lines(got) {
		require.Contains(t, b.String(), line)
	}
}

// A word that occurs in every match does not lead to an empty list.
func TestEmbeddedKeepsMatchesThatAllAnswer(t *testing.T) {
	var b strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&b, "logs/access.log:%d:22:10.0.0.1 \"GET /api/orders/%d HTTP/1.1\" 200\n", i+1, i)
	}
	for _, question := range []string{"api", "GET"} {
		require.Equal(t, b.String(), embed(t, pruneclient.Request{Text: b.String(), Question: question, Grep: true}))
	}
}

func TestEmbeddedTellsItsTimeoutFromItsCaller(t *testing.T) {
	req := pruneclient.Request{Text: ledger(), Question: refundQuestion}
	_, err := pruneclient.NewEmbedded(time.Nanosecond).Prune(context.Background(), req)
	var failed *pruneclient.Error
	require.ErrorAs(t, err, &failed)
	require.Equal(t, pruneclient.Timeout, failed.Code)

	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = pruneclient.NewEmbedded(0).Prune(ctx, req)
	require.ErrorIs(t, err, context.Canceled)
}

// The call returns when its context ends, even if the pruner is still working on millions of lines. The
// result of a cancelled call is always the context's error.
func TestEmbeddedEndsWithItsCaller(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	answered := make(chan error, 1)
	go func() {
		_, err := pruneclient.NewEmbedded(time.Hour).Prune(ctx, pruneclient.Request{Text: strings.Repeat("a b\n", 2_000_000), Question: refundQuestion})
		answered <- err
	}()
	cancel()
	require.ErrorIs(t, <-answered, context.Canceled)
}

func TestEmbeddedNamesItself(t *testing.T) {
	require.Equal(t, "embedded", pruneclient.NewEmbedded(0).Endpoint())
}

// TestTooLongToShow checks that a text that the client would cut at its end is pruned by the question
// instead.
func TestTooLongToShow(t *testing.T) {
	var log strings.Builder
	for i := range 400 {
		limit := 3 + i%2
		if i == 300 {
			limit = 77
		}
		fmt.Fprintf(&log, "commit %040d\n\n    note %d\n\ndiff --git a/f%d.go b/f%d.go\n--- a/f%d.go\n+++ b/f%d.go\n@@ -1,2 +1,2 @@\n-\tconst a%d = %d\n+\tconst b%d = %d\n", i, i, i, i, i, i, i, limit, i, limit+1)
	}
	ask := func(shown float64) pruneclient.Result {
		res, err := pruneclient.NewEmbedded(0).Prune(t.Context(), pruneclient.Request{Text: log.String(), Question: "where did b300 come in", Shown: shown})
		require.NoError(t, err)
		return res
	}
	for _, all := range []float64{0, 1} {
		require.Equal(t, pruneclient.Result{Text: log.String(), Note: "not pruned: every line of a diff counts"}, ask(all))
	}
	cut := ask(0.2)
	require.Less(t, len(cut.Text), log.Len()/5)
	require.Contains(t, cut.Text, "const b300 = 78")
	require.Equal(t, "cut to what fits the question best: every line of a diff counts", cut.Note)
}
