package verbs

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
)

func TestHealth(t *testing.T) {
	for path, want := range map[string]int{"/healthz": command.OK, "/health": command.OK, "/elsewhere": command.Fail} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != path {
				http.NotFound(w, r)
			}
		}))
		u, err := url.Parse(server.URL)
		require.NoError(t, err)
		var stderr bytes.Buffer
		for _, p := range []command.Process{
			{Args: []string{"health", "--port", u.Port()}, Env: []string{"JEEVES_MCP_PRUNER_PORT=1"}},
			{Args: []string{"health"}, Env: []string{"JEEVES_MCP_PRUNER_PORT=" + u.Port(), "MCP_PRUNER_PORT=1"}},
			{Args: []string{"doctor", "--port", "0"}, Env: []string{"JEEVES_MCP_PRUNER_PORT=", "MCP_PRUNER_PORT=" + u.Port()}},
		} {
			p.Stdout, p.Stderr = &bytes.Buffer{}, &stderr
			assert.Equal(t, want, Run(p), "%s: %s", path, &stderr)
		}
		server.Close()
	}
	p := command.Process{Args: []string{"health"}, Env: []string{"MCP_PRUNER_PORT=none"}, Stdout: &bytes.Buffer{}, Stderr: &bytes.Buffer{}}
	assert.Equal(t, command.Usage, Run(p))
}
