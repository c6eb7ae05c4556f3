package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/states/store/storetest"
)

func TestMain(m *testing.M) {
	if slices.Contains(os.Args, bareArgument) {
		serveBare()
		return
	}
	os.Exit(m.Run())
}

// BenchmarkTeam compares a database with a file, as the place where a gateway keeps the originals of what it prunes and where a
// proxy keeps its ledger. The processes take turns. p50-ms-* are the medians of a whole pruned call, and of a whole request of 1.1 MB
// that grows by a result each time.
func BenchmarkTeam(b *testing.B) {
	program, database := buildProgram(b), storetest.Start(b)
	places := []struct{ name, store string }{{"sqlite", "sqlite:" + filepath.Join(b.TempDir(), "store.db")}, {"postgres", database.Database(b)}}
	b.Run("Gateway", func(b *testing.B) {
		took := make([][]time.Duration, len(places))
		var callers []*caller
		for _, p := range places {
			callers = append(callers, startGateway(b, program, p.store))
		}
		for i := 0; b.Loop(); i++ {
			for n, c := range callers {
				began := time.Now()
				answer, err := c.post(request(i, "log", map[string]any{"job": fmt.Sprint(n, "-", i), "context_focus_question": "Which checksum error is reported?"}))
				took[n] = append(took[n], time.Since(began))
				require.NoError(b, err)
				require.Contains(b, string(answer), "prn_", "the result was not pruned")
			}
		}
		for n, p := range places {
			b.ReportMetric(median(took[n]), "p50-ms-"+p.name)
		}
	})
	b.Run("Small", func(b *testing.B) { // calls one after the other on a connection, whose results are not cut
		took := make([][]time.Duration, len(places))
		var callers []*caller
		for _, p := range places {
			callers = append(callers, startGateway(b, program, p.store))
		}
		list, err := callers[0].post(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
		require.NoError(b, err)
		name := regexp.MustCompile(`"name":"(read[^"]+)"`).FindSubmatch(list) // ours is called read
		require.NotNil(b, name, "%s", list)
		for i := 0; b.Loop(); i++ {
			for n, c := range callers {
				began := time.Now()
				answer, err := c.post(request(i+1, string(name[1]), map[string]any{}))
				took[n] = append(took[n], time.Since(began))
				require.NoError(b, err)
				require.Contains(b, string(answer), "hello")
			}
		}
		for n, p := range places {
			b.ReportMetric(median(took[n]), "p50-ms-"+p.name)
		}
	})
	b.Run("Proxy", func(b *testing.B) {
		api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			_, _ = io.WriteString(w, `{"usage":{"input_tokens":1,"output_tokens":1}}`)
		}))
		b.Cleanup(api.Close)
		took := make([][]time.Duration, len(places)+1)
		urls := []string{api.URL}
		for _, p := range places {
			url, stop, err := startProxy(program, api.URL, "gc", p.store, b.TempDir())
			require.NoError(b, err)
			b.Cleanup(stop)
			urls = append(urls, url)
		}
		for i := 0; b.Loop(); i++ {
			body := history(130 + i)
			for n, url := range urls {
				began := time.Now()
				response, err := http.Post(url+"/v1/messages", "application/json", bytes.NewReader(body))
				require.NoError(b, err)
				_, err = io.Copy(io.Discard, response.Body)
				took[n] = append(took[n], time.Since(began))
				require.NoError(b, cmp.Or(err, response.Body.Close()))
				time.Sleep(thinks)
			}
		}
		for n, name := range []string{"straight", "sqlite", "postgres"} {
			b.ReportMetric(median(took[n]), "p50-ms-"+name)
		}
	})
}

// thinks is the time between two requests, in which a proxy stores what nobody waits for. A model takes far longer.
const thinks = 50 * time.Millisecond

func median(took []time.Duration) (ms float64) {
	return float64(percentile(took, .5).Microseconds()) / 1e3
}

func buildProgram(b *testing.B) string {
	b.Helper()
	program := filepath.Join(b.TempDir(), "mcp-pruner")
	build := exec.Command("go", "build", "-o", program, "./cmd/mcp-pruner")
	build.Dir = "../../.."
	out, err := build.CombinedOutput()
	require.NoError(b, err, string(out))
	return program
}

// startGateway starts a gateway over HTTP in front of the bare server, whose results it prunes.
func startGateway(b *testing.B, program, store string) *caller {
	b.Helper()
	dir := b.TempDir()
	self, err := os.Executable()
	require.NoError(b, err)
	servers, err := json.Marshal(map[string]any{"mcpServers": map[string]any{"bare": map[string]any{"command": self, "args": []string{bareArgument}}}})
	require.NoError(b, err)
	config, mapping := filepath.Join(dir, "servers.json"), filepath.Join(dir, "map.json")
	require.NoError(b, os.WriteFile(config, servers, 0o600))
	require.NoError(b, os.WriteFile(mapping, []byte(`{"servers":{"bare":{"prune_over":4000}}}`), 0o600))
	b.Setenv("MCP_PRUNER_STORE", store)
	b.Setenv("XDG_STATE_HOME", dir)
	web, err := serveWeb(dir, program, "gateway", "--http", "--mode", "trim", "--bare", "--map", mapping, config)
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, web.close()) })
	c, err := web.caller()
	require.NoError(b, err)
	return c
}
