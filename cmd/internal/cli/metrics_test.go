package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"mcp-pruner/cmd/internal/command"
)

// Every server serves its metrics on a port of its own, on this machine, where the
// setting asks for it.
func TestEveryServerHasMetrics(t *testing.T) {
	for name, args := range map[string][]string{
		"serve":  {"serve", "--port", "0"},
		"pruner": {"pruner", "--port", "0"},
		"proxy":  {"proxy", "--port", "0", "--store", filepath.Join(t.TempDir(), "ledger.db")},
	} {
		t.Run(name, func(t *testing.T) { assert.Contains(t, metricsOf(t, args), "mcp_pruner_build_info{") })
	}
}

// metricsOf is what a server's metrics are when it is ready.
func metricsOf(t *testing.T, args []string) string {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	home := t.TempDir()
	r, w := io.Pipe()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		p := command.Process{
			Args: args, Stdin: http.NoBody, Stdout: io.Discard, Stderr: w,
			Env: []string{"MCP_PRUNER_METRICS=0", "HOME=" + home, "GOGC=100", "GOMEMLIMIT=1GiB", "GOMAXPROCS=2"},
		}
		command.Execute(ctx, Root(p), p)
		_ = w.Close()
	}()
	defer func() { <-ended }()
	defer func() { go func() { _, _ = io.Copy(io.Discard, r) }() }()
	defer cancel()
	for logs := bufio.NewScanner(r); logs.Scan(); {
		var event struct {
			Event string
			Data  struct{ URL string }
		}
		require.NoError(t, json.Unmarshal(logs.Bytes(), &event))
		if event.Event != "mcp_pruner.metrics_ready" {
			continue
		}
		require.Contains(t, event.Data.URL, "http://127.0.0.1:")
		answer, err := http.Get(event.Data.URL)
		require.NoError(t, err)
		defer answer.Body.Close()
		body, err := io.ReadAll(answer.Body)
		require.NoError(t, err)
		return string(body)
	}
	t.Fatal("no metrics were announced")
	return ""
}
