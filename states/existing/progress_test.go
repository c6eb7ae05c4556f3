package existing

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history"
)

// progress returns an output of three lines, of which a program overwrote the second 400 times.
func progress() string {
	var b strings.Builder
	b.WriteString("Cloning into 'app'...\n")
	for i := range 400 {
		fmt.Fprintf(&b, "Receiving objects: %3d%% (%d/400)\r", i/4, i)
	}
	b.WriteString("Receiving objects: 100% (400/400), done.\nerror: the ref 'main' is missing\n")
	return b.String()
}

// TestProgressShowsItsLastState: of the lines that a command overwrote the model gets the last state, although all lines
// are kept. The original stays as it was, and a file with carriage returns is no progress.
func TestProgressShowsItsLastState(t *testing.T) {
	stored := ""
	m := Machine{Client: "test", Keep: func(_ context.Context, text string) (string, error) {
		stored = text
		return "prn_1", nil
	}}
	call := history.ParseCall("Bash", map[string]any{"command": "git clone https://example.org/app"})
	body := NewBody(call.Kind, progress())
	out, ok, err := m.Prune(t.Context(), Result{Call: call, Body: body, Question: "why does the clone fail"})
	require.NoError(t, err)
	require.True(t, ok)
	assert.Equal(t, progress(), stored, "the exact output")
	assert.Equal(t, "[progress shows its last state; all: `mcp-pruner recover prn_1`]\nCloning into 'app'...\n"+
		"Receiving objects: 100% (400/400), done.\nerror: the ref 'main' is missing\n", Text(body, out.Cut, out.Way))

	for name, other := range map[string]Body{
		"a read":      NewBody(history.Read, progress()),
		"a search":    NewBody(history.Grep, progress()),
		"CRLF":        NewBody(history.Bash, strings.Repeat("one line\r\n", 100)),
		"Mac OS 9":    NewBody(history.Bash, strings.Repeat("package main\rfunc main() {\r\tprintln(1)\r}\r", 20)),
		"a short bar": NewBody(history.Bash, "10%\r20%\r30%\n"),
	} {
		text, _ := other.Original()
		assert.Equal(t, strings.TrimSuffix(text, "\n"), other.Code(), name)
	}
}
