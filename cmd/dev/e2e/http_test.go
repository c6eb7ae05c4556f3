//go:build e2e

package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// serve starts the server over HTTP in the world's directory.
func (w *world) serve() (url string) { return w.listening("serve") }

// listening starts a verb that serves over HTTP in the world's directory.
func (w *world) listening(args ...string) (url string) {
	w.t.Helper()
	cmd := exec.Command(pruner, args...)
	cmd.Dir = w.dir
	cmd.Env = append(append([]string{}, w.env...), "JEEVES_PRUNER_ENDPOINT="+prunerURL(w))
	logs, err := cmd.StderrPipe()
	require.NoError(w.t, err)
	require.NoError(w.t, cmd.Start())
	lines := bufio.NewReader(logs)
	first, err := lines.ReadBytes('\n')
	require.NoError(w.t, err)
	var ready struct{ Data struct{ Port int } }
	require.NoError(w.t, json.Unmarshal(first, &ready), string(first))
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		_, _ = io.Copy(io.Discard, lines)
	}()
	w.t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		<-drained
		assert.NoError(w.t, cmd.Wait(), "the server ends with 0")
	})
	return fmt.Sprintf("http://127.0.0.1:%d/mcp", ready.Data.Port)
}

// TestOwnedServer proves that both clients use the HTTP server that the runner starts, and that the model gets the
// pruned text.
func TestOwnedServer(t *testing.T) {
	each(t, func(t *testing.T, c client) {
		w := newWorld(t, c, readFocused(), done)
		w.env = append(w.env, "JEEVES_PRUNER_ENDPOINT="+prunerURL(w))
		trace := filepath.Join(w.home, "trace.jsonl")
		o := w.run("--transport", "http", "--trace", trace)
		require.Zero(t, o.code, o.stderr)
		assert.Equal(t, "three times\n", o.stdout)
		assert.Contains(t, o.summary, "run:init > run:mcp_pruner_starting > run:mcp_pruner_running > run:shutdown; calls 1, pruned 1;")
		require.Len(t, w.results(), 1)
		assert.True(t, strings.HasSuffix(w.results()[0].text, prunedText), w.results()[0].text)
		assert.Contains(t, strings.Join(o.events, "\n"), "mcp_pruner.stopped {\"graceful\":true")
		verified, stderr, err := w.verb("trace", "verify", trace)
		require.NoError(t, err, stderr)
		assert.Regexp(t, `request-http \d+, run-http 1`, verified, "requests that are refused are recorded, too")
		assert.Empty(t, w.left())
	})
}

// TestOwnedServerDies proves that a run continues when the server that the runner started is killed.
func TestOwnedServerDies(t *testing.T) {
	each(t, func(t *testing.T, c client) {
		w := newWorld(t, c, call("bash", map[string]any{"command": "kill -9 $PPID"}), done)
		o := w.run("--transport", "http", "--allow-bash")
		require.Zero(t, o.code, o.stderr)
		assert.Equal(t, "three times\n", o.stdout)
		assert.Contains(t, strings.Join(o.events, "\n"), `mcp_pruner.degraded {"reason":"exited","signal":"SIGKILL"}`)
		assert.Empty(t, w.left())
	})
}

// TestSDKOverHTTP proves that the official SDK's client can list and call tools over HTTP, gets errors and progress,
// and can cancel a call.
func TestSDKOverHTTP(t *testing.T) {
	w := newWorld(t, both()[0], done)
	script, err := filepath.Abs("clients/sdk-http.mjs")
	require.NoError(t, err)
	out, err := w.node(script, installed("@modelcontextprotocol/sdk"), w.serve()).CombinedOutput()
	require.NoError(t, err, string(out))
	var seen struct {
		Session   bool
		Server    string
		Tools     []string
		Pruned    string
		Missing   bool
		Refused   struct{ Code int }
		Progress  int
		Long      string
		Cancelled string
		Left      string
		Errors    []string
	}
	require.NoError(t, json.Unmarshal(out, &seen), string(out))
	assert.True(t, seen.Session)
	assert.Equal(t, "@jeeves/mcp-pruner", seen.Server)
	assert.ElementsMatch(t, []string{"read", "bash", "grep"}, seen.Tools)
	assert.Equal(t, prunedText, seen.Pruned)
	assert.True(t, seen.Missing)
	assert.Equal(t, -32602, seen.Refused.Code)
	assert.Equal(t, 1, seen.Progress)
	assert.Equal(t, "done\n", seen.Long)
	assert.Contains(t, seen.Cancelled, "enough")
	assert.Empty(t, seen.Left)
	assert.Empty(t, seen.Errors)
}

func TestInspectorOverHTTP(t *testing.T) {
	w := newWorld(t, both()[0], done)
	url := w.serve()
	inspect := func(args ...string) string {
		cmd := w.node(append([]string{installed("@modelcontextprotocol/inspector/clients/launcher/build/index.js"),
			"--cli", url, "--transport", "http"}, args...)...)
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, string(out))
		return string(out)
	}
	assert.Contains(t, inspect("--method", "tools/list"), `"name": "grep"`)
	assert.Contains(t, inspect("--method", "tools/call", "--tool-name", "read", "--tool-arg", "file_path=retry.go"), "const attempts = 3")
}
