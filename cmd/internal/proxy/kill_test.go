package proxy

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/settings"
	"github.com/mcp-pruner/mcp-pruner/fsm"
	"github.com/mcp-pruner/mcp-pruner/fsm/trace"
)

// Environment variables of this test program: childMode makes it the verb proxy, and childRetry says after how long that proxy
// tries a ledger again that failed.
const (
	childMode  = "PROXY_TEST_CHILD"
	childRetry = "PROXY_TEST_RETRY"

	// childWithin is its time limit for decisions.
	childWithin = "PROXY_TEST_WITHIN"
)

var productWithin = decideWithin

func TestMain(m *testing.M) {
	if os.Getenv(childMode) == "" {
		goleak.VerifyTestMain(m)
	}
	decideWithin = patience
	if within, err := time.ParseDuration(os.Getenv(childWithin)); err == nil {
		decideWithin = within
	}
	if after, err := time.ParseDuration(os.Getenv(childRetry)); err == nil {
		tryAgainAfter = after
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	args := os.Args[1:]
	if len(args) > 0 && args[0] == "proxy" { // as the program starts itself
		args = args[1:]
	}
	p := command.Process{Args: args, Env: os.Environ(), Stdout: os.Stdout, Stderr: os.Stderr}
	os.Exit(command.Verb(ctx, Command(p, "test"), p))
}

// child is the verb proxy in a process of its own.
type child struct {
	*exec.Cmd
	url string
	err *bufio.Reader // the event log after its first line
}

func startChild(t *testing.T, upstream, store string, env ...string) *child {
	t.Helper()
	c := &child{Cmd: exec.Command(os.Args[0], "--upstream", upstream, "--store", store)}
	c.Env = append(append(os.Environ(), childMode+"=1", "XDG_STATE_HOME="+t.TempDir()), env...)
	stderr, err := c.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, c.Start())
	t.Cleanup(func() { _ = c.Process.Kill(); _ = c.Wait() })
	c.err = bufio.NewReader(stderr)
	var ready struct {
		Data struct {
			URL  string
			File string `json:"url_file"`
		}
	}
	line, err := c.err.ReadBytes('\n')
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(line, &ready), string(line))
	assert.Regexp(t, `^http://127\.0\.0\.1:\d+/\*\*\*$`, ready.Data.URL)
	address, err := os.ReadFile(ready.Data.File)
	require.NoError(t, err)
	c.url = strings.TrimSpace(string(address))
	return c
}

func (c *child) post(t *testing.T, body []byte) {
	t.Helper()
	res, err := http.Post(c.url+"/v1/messages", "application/json", bytes.NewReader(body))
	require.NoError(t, err)
	_, err = io.Copy(io.Discard, res.Body)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
}

// health returns the proxy's report about itself.
func (c *child) health(t *testing.T) (h Health) {
	t.Helper()
	res, err := http.Get(c.url + HealthPath)
	require.NoError(t, err)
	defer res.Body.Close()
	require.NoError(t, json.NewDecoder(res.Body).Decode(&h))
	return h
}

// end ends the proxy in order and returns its event log.
func (c *child) end(t *testing.T) string {
	t.Helper()
	require.NoError(t, c.Process.Signal(os.Interrupt))
	log, err := io.ReadAll(c.err)
	require.NoError(t, err)
	require.NoError(t, c.Wait())
	return string(log)
}

// A killed proxy's sessions are in the trace: the next proxy records each run as interrupted, in the state
// that it was in, and begins a new one where the session goes on.
func TestRunsOfAKilledProxyAreRecorded(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no notes")
	}
	up, dir := newUpstream(t), t.TempDir()
	store := filepath.Join(dir, "ledger.db")
	first := startChild(t, up.URL, store)
	first.post(t, claudeHistory(40))
	first.post(t, bytes.Replace(claudeHistory(2), []byte("fix the bug"), []byte("add a test"), 1))
	sent := string(up.last())
	require.NoError(t, first.Process.Kill())
	_ = first.Wait()

	second := startChild(t, up.URL, store)
	second.post(t, claudeHistory(40))
	assert.NotEqual(t, sent, string(up.last()))
	second.end(t)

	runs, requests := map[string]trace.Record{}, 0
	for _, r := range recorded(t, filepath.Join(dir, "proxy-trace.jsonl")) {
		if r.Machine == "run" {
			runs[r.ID] = r
			continue
		}
		assert.NotEmpty(t, r.Subject)
		assert.Nil(t, r.Detail, "nobody asked for paths and commands")
		requests++
	}
	ends := map[string]int{}
	for _, r := range runs {
		ends[r.Outcome]++
		assert.Equal(t, r.Outcome != fsm.RunShutdown.Short(), r.Recovered != "", "recovered means interrupted here")
	}
	assert.Equal(t, map[string]int{fsm.RunRunning.Short(): 2, fsm.RunShutdown.Short(): 1}, ends)
	assert.Equal(t, 1, requests, "one record of all cleared results")
}

// The log has the first head of the trace before the trace has a line, so that a proxy that is killed early leaves no
// lines of a stranger.
func TestTheLogHasTheFirstHeadBeforeTheTraceHasALine(t *testing.T) {
	dir := t.TempDir()
	var heads, synced int
	emit := func(e fsm.Event) {
		if e.Name == "mcp_pruner.trace_head" {
			heads++
		}
	}
	written := func() {
		synced++
		assert.Equal(t, 1, heads)
		raw, err := os.ReadFile(filepath.Join(dir, "proxy-trace.jsonl"))
		if !errors.Is(err, fs.ErrNotExist) {
			require.NoError(t, err)
		}
		assert.Empty(t, raw)
	}
	p := command.Process{Env: []string{"XDG_STATE_HOME=" + dir}, Stderr: io.Discard}
	s, end := assembleProxy(t.Context(), p, settings.Settings{}, Options{Store: filepath.Join(dir, "ledger.db"), Policy: GC, Version: "test"}, emit, written)
	s.runs.Session(t.Context(), "a session", "a client")
	end()
	assert.Equal(t, 1, synced)
	assert.Len(t, recorded(t, filepath.Join(dir, "proxy-trace.jsonl")), 1)
}

// A request is sent when the log has the calls whose results are replaced in it, so that a proxy which is killed meanwhile
// has replaced nothing that the log does not name.
func TestTheLogHasTheCallsOfARequestBeforeItIsSent(t *testing.T) {
	var mu sync.Mutex
	var emitted, logged []string
	emit := func(e fsm.Event) {
		mu.Lock()
		defer mu.Unlock()
		emitted = append(emitted, e.Name)
	}
	written := func() {
		mu.Lock()
		defer mu.Unlock()
		logged = slices.Clone(emitted)
	}
	up := newUpstream(t)
	to, err := url.Parse(up.URL)
	require.NoError(t, err)
	p := command.Process{Env: []string{"XDG_STATE_HOME=" + t.TempDir()}, Stderr: io.Discard}
	s, end := assembleProxy(t.Context(), p, settings.Settings{}, Options{Upstream: to, Store: database(t), Policy: GC, Version: "test"}, emit, written)
	defer end()
	named := -1
	up.answer = func(http.ResponseWriter, *http.Request) {
		named = 0
		for _, name := range logged {
			if name == "tool.respond_ok" {
				named++
			}
		}
	}
	s.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "http://127.0.0.1/v1/messages", bytes.NewReader(claudeHistory(40))))
	assert.Positive(t, named)
	assert.Equal(t, 1, named)
	assert.Positive(t, cleared(up.last()))
}
