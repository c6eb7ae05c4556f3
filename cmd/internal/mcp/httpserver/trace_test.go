package httpserver

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/mcp/mcpserver"
	"github.com/mcp-pruner/mcp-pruner/fsm/trace"
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
