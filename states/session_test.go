package states

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/fsm"
	"github.com/mcp-pruner/mcp-pruner/pruneclient"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/session"
	"github.com/mcp-pruner/mcp-pruner/tools"
)

// listening is a pruner that records its requests and prunes nothing.
type listening struct{ asked []pruneclient.Request }

func (l *listening) Endpoint() string { return "listening" }

func (l *listening) Prune(_ context.Context, req pruneclient.Request) (pruneclient.Result, error) {
	l.asked = append(l.asked, req)
	return pruneclient.Result{Text: req.Text}, nil
}

// reader is the echo tool under the name of a tool that reads files.
func reader() tools.Tool {
	t := echo()
	t.Name = "read"
	return t
}

func ask(t *testing.T, p *Pipeline, s *Session, args map[string]any) {
	t.Helper()
	call := p.Run(context.Background(), Request{Params: map[string]any{"name": "read", "arguments": args}, Session: s})
	call.Written(context.Background())
}

func TestThePrunerIsToldOfTheSession(t *testing.T) {
	pruner := &listening{}
	p := &Pipeline{Machine: compiled(t), Tools: []tools.Tool{reader()}, Pruner: pruner}
	var s Session
	ask(t, p, &s, map[string]any{"file_path": "a.go", "text": "func retry() {}"}) // no question, but remembered
	ask(t, p, &s, map[string]any{"file_path": "b.go", "text": "var limit = 3", "question": "where is the limit"})
	ask(t, p, &s, map[string]any{"file_path": "c.go", "text": "package c", "question": "who calls retry"})
	require.Len(t, pruner.asked, 2)
	last := pruner.asked[1]
	require.Equal(t, "read", last.Tool)
	require.Equal(t, "c.go", last.Args["file_path"])
	require.Equal(t, []pruneclient.Event{
		{Kind: session.Result, Text: "var limit = 3", File: "b.go"}, {Kind: session.Read, File: "b.go"}, {Kind: session.Say, Text: "where is the limit"},
		{Kind: session.Result, Text: "func retry() {}", File: "a.go"}, {Kind: session.Read, File: "a.go"},
	}, last.Context)

	ask(t, p, nil, map[string]any{"file_path": "d.go", "text": "package d", "question": "what is d"})
	require.Empty(t, pruner.asked[2].Context, "a call that stands alone")
}

func TestASessionRemembersABoundedPart(t *testing.T) {
	pruner := &listening{}
	p := &Pipeline{Machine: compiled(t), Tools: []tools.Tool{reader()}, Pruner: pruner}
	var s Session
	for i := range 200 {
		ask(t, p, &s, map[string]any{"file_path": fmt.Sprint(i), "text": strings.Repeat("line\n", 20000), "question": "what is it"})
	}
	bytes := 0
	for _, e := range pruner.asked[199].Context {
		bytes += len(e.Text)
	}
	require.Less(t, bytes, 300<<10)
	require.Less(t, len(pruner.asked[199].Context), 100)
}

func compiled(t *testing.T) *fsm.Definition {
	t.Helper()
	d, err := fsm.Compile(fsm.RequestTable())
	require.NoError(t, err)
	return d
}
