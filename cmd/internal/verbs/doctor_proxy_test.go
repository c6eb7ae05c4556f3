package verbs

import (
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/verbs/initcmd"
)

// Where another program has the port of a client's proxy, doctor says that, and does not advise a start that must fail.
// All advice names the port that the client uses.
func TestDoctorTellsATakenPortFromOneWhereNothingListens(t *testing.T) {
	p := command.Process{Env: []string{"HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH")}}
	for name, answer := range map[string]http.HandlerFunc{
		"a page":   func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<h1>It works</h1>")) },
		"a 403":    func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) },
		"no words": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
	} {
		t.Run(name, func(t *testing.T) {
			other := httptest.NewServer(answer)
			address := other.URL
			_, port, err := net.SplitHostPort(other.Listener.Addr().String())
			require.NoError(t, err)
			for _, starts := range []bool{true, false} {
				got := proxyOf(t.Context(), p, initcmd.Proxied{Client: "claude", Address: address, Starts: starts})
				assert.Equal(t, noProxy, got.problem)
				assert.Contains(t, got.found, "not a proxy of yours")
				assert.Contains(t, got.found, "that program gets: the secret of the proxy, your key, your conversation. End the program that has port "+port)
				assert.NotContains(t, got.found, "8787")
			}
			other.Close()
			got := proxyOf(t.Context(), p, initcmd.Proxied{Client: "claude", Address: address})
			assert.Equal(t, noProxy, got.problem)
			assert.Contains(t, got.found, "\"mcp-pruner proxy --ensure --port "+port+"\" starts it;")
			assert.NotContains(t, got.found, "End the program")
			got = proxyOf(t.Context(), p, initcmd.Proxied{Client: "claude", Address: address, Starts: true})
			assert.Equal(t, none, got.problem)
		})
	}
}
