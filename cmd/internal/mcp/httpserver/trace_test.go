package httpserver

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/assemble"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/mcp/mcpserver"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/settings"
	"github.com/mcp-pruner/mcp-pruner/fsm"
	"github.com/mcp-pruner/mcp-pruner/fsm/trace"
	"github.com/mcp-pruner/mcp-pruner/fsm/trace/audit"
)

// traced returns a server that keeps a trace, and a function that reads its records.
func traced(t *testing.T) (*place, func() []trace.Record) {
	file := filepath.Join(t.TempDir(), "trace.jsonl")
	p := newPlaceWith(t, []string{"MCP_PRUNER_TRACE=" + file}, nil)
	return p, func() (records []trace.Record) {
		p.web.Close() // calls end when their answers are written, and the trace ends with the server
		p.server.Abandon(t.Context())
		raw, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, line := range strings.Split(strings.TrimSpace(string(raw)), "\n") {
			var r trace.Record
			require.NoError(t, trace.NewDecoder().Decode([]byte(line), &r))
			records = append(records, r)
		}
		return records
	}
}

// Calls without a session have subjects, so that a repeated question about the same subject can be
// recognised.
func TestCallsWithoutASessionHaveSubjects(t *testing.T) {
	p, records := traced(t)
	require.NoError(t, os.WriteFile(filepath.Join(p.root, "a"), []byte("x"), 0o600))
	for range 2 {
		p.ask(call("read", map[string]any{"path": "a"}))
	}
	all := records()
	require.Len(t, all, 2)
	assert.NotEmpty(t, all[0].Subject)
	assert.Equal(t, all[0].Subject, all[1].Subject)
	assert.Empty(t, all[0].Session)
}

// The record of a body over the limit has no output size, because its JSON-RPC error is never sent.
func TestABodyThatIsTooLargeHasNoSize(t *testing.T) {
	p, records := traced(t)
	response, _ := p.post(strings.Repeat(" ", mcpserver.MaxMessageBytes+1))
	assert.Equal(t, http.StatusRequestEntityTooLarge, response.StatusCode)
	all := records()
	require.Len(t, all, 1)
	assert.Equal(t, "invalid_request", all[0].Outcome)
	assert.Zero(t, all[0].Bytes)
}

// TestTheLinePrunersTraceIsInOrder: POST /prune answers with a text and nothing around it, and POST /rpc with a text as
// a JSON value.
func TestTheLinePrunersTraceIsInOrder(t *testing.T) {
	file := filepath.Join(t.TempDir(), "trace.jsonl")
	config, err := settings.LoadPruner(nil, settings.FromEnv([]string{"MCP_PRUNER_TRACE=" + file}))
	require.NoError(t, err)
	parts, err := assemble.Make(t.Context(), assemble.Pruner, assemble.Options{Settings: config, Emit: func(fsm.Event) {}})
	require.NoError(t, err)
	defer parts.Close()
	web := httptest.NewServer(NewHandler(Config{Server: parts.Server, Pruner: NewPruner(parts.Server, parts.Lines)}))
	prune := `{"jsonrpc":"2.0","id":1,"method":"prune_text","params":{"text":"some text","context_focus_question":"what is it"}}`
	for _, ask := range [][2]string{{"/prune", `{"code":"some text","query":"what is it"}`}, {"/prune", `{"code":"","query":""}`}, {"/prune", `{"code":7}`}, {"/rpc", prune}} {
		resp, err := http.Post(web.URL+ask[0], "application/json", strings.NewReader(ask[1]))
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
	}
	web.Close()
	parts.Server.Abandon(t.Context())
	require.NoError(t, audit.Open([]string{file}, nil, func(files []*audit.Source) error {
		verified, err := audit.Verify(files, audit.Options{All: true})
		require.NoError(t, err)
		assert.Empty(t, verified.Verdict().Problems)
		assert.GreaterOrEqual(t, verified.Verdict().Records, 3)
		return nil
	}))
}
