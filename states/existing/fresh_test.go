package existing

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune"
	"github.com/mcp-pruner/mcp-pruner/states"
)

// numbered are n lines as a client shows them, the first with a number.
func numbered(form string, first, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, form+"\n", first+i, fmt.Sprintf("code %d", first+i))
	}
	return b.String()
}

// TestBodiesOfClients: numbers come off a read in each client's form, and a line is shown
// again as the client showed it.
func TestBodiesOfClients(t *testing.T) {
	for name, c := range map[string]struct {
		out                 string
		first               int
		mark, head, tail    string
		lines               int
		firstLine, lastLine string
	}{
		"Claude Code":         {out: numbered("%d\t%s", 120, 40), first: 120, mark: "\t", lines: 40, firstLine: "120\tcode 120", lastLine: "159\tcode 159"},
		"Claude Code, before": {out: numbered("%6d→%s", 1, 3), first: 1, mark: "→", lines: 3, firstLine: "     1→code 1", lastLine: "     3→code 3"},
		"opencode": {out: "<path>/r/a.go</path>\n<type>file</type>\n<content>\n" + numbered("%d: %s", 7, 12) + "\n(End of file - total 18 lines)\n</content>",
			first: 7, mark: ": ", head: "<path>/r/a.go</path>\n<type>file</type>\n<content>\n", tail: "\n(End of file - total 18 lines)\n</content>",
			lines: 12, firstLine: "7: code 7", lastLine: "18: code 18"},
	} {
		t.Run(name, func(t *testing.T) {
			b := NewBody(history.Read, c.out)
			assert.Equal(t, []any{c.first, c.mark, c.head, c.tail, c.lines}, []any{b.First, b.Mark, b.Head, b.Tail, len(b.Lines)})
			assert.Equal(t, c.firstLine, b.Line(1))
			assert.Equal(t, c.lastLine, b.Line(c.lines))
			assert.NotContains(t, b.Code(), c.mark+"code")
		})
	}
	plain := NewBody(history.Bash, "1: a\n2: b\n")
	assert.Equal(t, []string{"1: a", "2: b"}, plain.Lines, "only a read has numbers of the client")
	assert.True(t, plain.Trailing)
}

func kept(total int, lines ...int) Cut { return Cut{Kind: lineprune.Logs, Kept: lines, Total: total} }

func TestText(t *testing.T) {
	b := NewBody(history.Bash, "a\nb\nc\nd\ne\nf\n")
	assert.Equal(t, "[2 of 6 lines; rest: `back --lines A-B`]\n... 1\nb\n... 3-4\ne\n... 6\n", Text(b, kept(6, 2, 5), "back"))
	b = NewBody(history.Read, "<content>\n"+numbered("%d: %s", 7, 4)+"</content>")
	assert.Equal(t, "[2 of 4 lines; rest: `back --lines A-B`]\n<content>\n...\n8: code 8\n9: code 9\n...\n</content>", Text(b, kept(4, 2, 3), "back"))
}

type ended struct{ deliveries []*states.Delivery }

func (*ended) Answering(*states.Delivery) {}
func (e *ended) Ended(d *states.Delivery) { e.deliveries = append(e.deliveries, d) }

// TestAResultIsARequest: it takes the request machine's path, its original is stored
// whole before it is cut, and its end says whether the client was sent the replacement.
func TestAResultIsARequest(t *testing.T) {
	var log strings.Builder
	for i := range 300 {
		fmt.Fprintf(&log, "=== RUN   TestCase%d\n--- PASS: TestCase%d (0.00s)\n", i, i)
	}
	log.WriteString("    ledger_test.go:42: openLedger: want 3 retries, got 4\n--- FAIL: TestLedger (0.01s)\n")
	var stored string
	seen := &ended{}
	m := Machine{Client: "test", Observers: []states.Observer{seen}, Keep: func(_ context.Context, text string) (string, error) {
		stored = text
		return "prn_1", nil
	}}
	call := history.ParseCall("Bash", map[string]any{"command": "go test ./..."})
	r := Result{Call: call, Body: NewBody(call.Kind, log.String()), Question: "which test failed and why"}
	out, ok, err := m.Prune(context.Background(), r)
	require.NoError(t, err)
	require.True(t, ok)
	assert.Equal(t, log.String(), stored, "the exact text")
	assert.Equal(t, "mcp-pruner recover prn_1", out.Way)
	require.NoError(t, out.Written(context.Background(), 10, func() error { return nil }))

	out, ok, err = m.Prune(context.Background(), r)
	require.NoError(t, err)
	require.True(t, ok)
	broken := errors.New("broken pipe")
	require.ErrorIs(t, out.Written(context.Background(), 10, func() error { return broken }), broken)
	require.Len(t, seen.deliveries, 2)
	assert.NoError(t, seen.deliveries[0].Err)
	assert.True(t, seen.deliveries[0].Pruning.Applied)
	assert.ErrorIs(t, seen.deliveries[1].Err, broken)

	m.Keep = func(context.Context, string) (string, error) { return "", errors.New("no space left on device") }
	_, ok, err = m.Prune(context.Background(), r)
	require.NoError(t, err)
	assert.False(t, ok, "what cannot be stored is not cut")
}
