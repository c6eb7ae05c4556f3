package verbs

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
)

// running is the service as a user starts it.
type running struct {
	url    string
	stderr *lines
	stop   func() int
}

// lines collects what the service writes, and hands out lines as they come.
type lines struct {
	mu  sync.Mutex
	all bytes.Buffer
	w   *io.PipeWriter
	in  *bufio.Scanner
}

func newLines() *lines {
	r, w := io.Pipe()
	return &lines{w: w, in: bufio.NewScanner(r)}
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	l.all.Write(p)
	l.mu.Unlock()
	return l.w.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all.String()
}

func start(t *testing.T, env ...string) *running {
	t.Helper()
	return startVerb(t, prunerCommand, nil, env...)
}

func startVerb(t *testing.T, verb func(command.Process) *cobra.Command, args []string, env ...string) *running {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	out := newLines()
	code := make(chan int, 1)
	go func() {
		p := command.Process{Args: append(args, "--port", "0"), Env: env, Stdout: io.Discard, Stderr: out}
		code <- command.Verb(ctx, verb(p), p)
		_ = out.w.Close()
	}()
	r := &running{stderr: out, stop: sync.OnceValue(func() int {
		cancel()
		return <-code
	})}
	t.Cleanup(func() { r.stop() })
	for out.in.Scan() {
		var event struct {
			Event string
			Data  struct{ URL string }
		}
		require.NoError(t, json.Unmarshal(out.in.Bytes(), &event), out.in.Text())
		if event.Event == "mcp_pruner.ready" {
			r.url = strings.TrimSuffix(event.Data.URL, "/mcp")
			go func() { // keep reading, so that the service never waits for us
				for out.in.Scan() {
				}
			}()
			return r
		}
	}
	require.Fail(t, "the service did not start", out.String())
	return nil
}

func (r *running) post(t *testing.T, path, body string) (int, string) {
	t.Helper()
	resp, err := http.Post(r.url+path, "application/json", strings.NewReader(body))
	require.NoError(t, err)
	defer func() { _ = resp.Body.Close() }()
	answer, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp.StatusCode, string(answer)
}

// tool calls a tool and returns the JSON in its text.
func (r *running) tool(t *testing.T, name string, args any) map[string]any {
	t.Helper()
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": map[string]any{"name": name, "arguments": args}})
	require.NoError(t, err)
	status, answer := r.post(t, "/rpc", string(body))
	require.Equal(t, 200, status)
	var decoded struct {
		Result struct{ Content []struct{ Type, Text string } }
	}
	require.NoError(t, json.Unmarshal([]byte(answer), &decoded))
	require.Len(t, decoded.Result.Content, 1, answer)
	var result map[string]any
	require.NoError(t, json.Unmarshal([]byte(decoded.Result.Content[0].Text), &result))
	return result
}

func pruneArgs(text, goal string) map[string]any {
	return map[string]any{"text": text, "goal_hint": goal, "source_type": "docs", "options": map[string]any{
		"max_prune_ratio": 0.9, "min_keep_lines": 1, "timeout_ms": 60000, "annotate_lines": false, "include_markers": true,
	}}
}

func TestGuards(t *testing.T) {
	r := start(t)
	do := func(method, path, host, origin string) *http.Response {
		req, err := http.NewRequest(method, r.url+path, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}`))
		require.NoError(t, err)
		if host != "" {
			req.Host = host
		}
		if origin != "" {
			req.Header.Set("Origin", origin)
		}
		resp, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		_ = resp.Body.Close()
		return resp
	}
	for name, tc := range map[string]struct {
		method, path, host, origin string
		status                     int
		allow                      string
	}{
		"plain":                 {"POST", "/rpc", "", "", 200, ""},
		"local name":            {"POST", "/rpc", "localhost:8006", "", 200, ""},
		"IPv6":                  {"POST", "/rpc", "[::1]:8006", "", 200, ""},
		"local origin":          {"POST", "/rpc", "", "http://localhost:3000", 200, ""},
		"rebound name":          {"POST", "/rpc", "evil.example:8006", "", 403, ""},
		"name that looks local": {"POST", "/rpc", "127.0.0.1.evil.example", "", 403, ""},
		"foreign origin":        {"POST", "/rpc", "", "https://evil.example", 403, ""},
		"opaque origin":         {"POST", "/rpc", "", "null", 403, ""},
		"health is guarded":     {"GET", "/health", "evil.example", "", 403, ""},
		"prune is guarded":      {"POST", "/prune", "", "https://evil.example", 403, ""},
		"wrong method, rpc":     {"GET", "/rpc", "", "", 405, "POST"},
		"wrong method, prune":   {"GET", "/prune", "", "", 405, "POST"},
		"wrong method, health":  {"POST", "/health", "", "", 405, "GET, HEAD"},
		"no such page":          {"POST", "/nowhere", "", "", 404, ""},
	} {
		t.Run(name, func(t *testing.T) {
			resp := do(tc.method, tc.path, tc.host, tc.origin)
			assert.Equal(t, tc.status, resp.StatusCode)
			assert.Equal(t, tc.allow, resp.Header.Get("Allow"))
		})
	}
}

func TestBodyLimit(t *testing.T) {
	r := start(t)
	for name, body := range map[string]io.Reader{
		"announced": strings.NewReader(strings.Repeat(" ", 32<<20+1)),
		"chunked":   io.MultiReader(strings.NewReader(strings.Repeat(" ", 32<<20+1))),
	} {
		resp, err := http.Post(r.url+"/rpc", "application/json", body)
		if err != nil {
			continue // the service may hang up while we are still sending
		}
		assert.Equal(t, 413, resp.StatusCode, name)
		answer, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		assert.JSONEq(t, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Invalid Request"}}`, string(answer))
	}
}

func TestPruneContract(t *testing.T) {
	r := start(t)
	status, got := r.post(t, "/prune", `{"query":"q","code":"a\nb\n","unknown":1}`)
	assert.Equal(t, 200, status)
	var res map[string]any
	require.NoError(t, json.Unmarshal([]byte(got), &res))
	assert.Equal(t, "a\nb\n", res["pruned_code"])
	assert.Equal(t, []any{1.0, 2.0}, res["kept_frags"])
	assert.Equal(t, []any{}, res["token_scores"])
	assert.Contains(t, res, "error_msg")
	_, got = r.post(t, "/prune", `{"query":"q","code":""}`)
	assert.Contains(t, got, `"kept_frags":[]`)
	for name, tc := range map[string]struct{ body, want string }{
		"missing":    {`{"code":"a"}`, `{"detail":[{"type":"missing","loc":["body","query"],"msg":"Field required"}]}`},
		"not JSON":   {`{`, `{"detail":[{"type":"json_invalid","loc":["body"],"msg":"JSON decode error"}]}`},
		"not object": {`[]`, `{"detail":[{"type":"model_attributes_type","loc":["body"],"msg":"Input should be a valid object"}]}`},
	} {
		status, got := r.post(t, "/prune", tc.body)
		assert.Equal(t, 422, status, name)
		assert.JSONEq(t, tc.want, got, name)
	}
}

func TestPrunerHealth(t *testing.T) {
	r := start(t)
	r.tool(t, "prune_text", pruneArgs("a", "b"))
	resp, err := http.Get(r.url + "/health")
	require.NoError(t, err)
	defer func() { _ = resp.Body.Close() }()
	var h map[string]any
	require.NoError(t, json.NewDecoder(resp.Body).Decode(&h))
	assert.Equal(t, "healthy", h["status"])
	assert.Equal(t, true, h["model_loaded"])
	assert.Equal(t, map[string]any{
		"calls_total": 1.0, "calls_deepinfra": 0.0, "fallbacks_deepinfra": 0.0, "fallback_rate_deepinfra": 0.0, "cost_estimated_total_usd": 0.0,
	}, h["metrics"])
	assert.Equal(t, map[string]any{"items": 1.0, "texts": 1.0, "bytes": 1.0, "evicted": 0.0}, h["recovery"])
}

// Who asks for health finds a thread, whatever is being pruned.
func TestThreadsToSpare(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	r := start(t)
	assert.Equal(t, before+spare, runtime.GOMAXPROCS(0))
	require.Zero(t, r.stop())
	assert.Equal(t, before, runtime.GOMAXPROCS(0))
	start(t, "GOMAXPROCS=1")
	assert.Equal(t, before, runtime.GOMAXPROCS(0), "the user has said how many")
}

// Nothing a caller sends and no key ever reaches the log, whatever happens.
func TestLogHoldsNoSecrets(t *testing.T) {
	cloud := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.WriteHeader(500)
		_, _ = w.Write(append(body, r.Header.Get("Authorization")...))
	}))
	defer cloud.Close()
	config := filepath.Join(t.TempDir(), "config.toml")
	require.NoError(t, os.WriteFile(config, []byte("[mcp_pruner]\ndeepinfra_api_key = \"TOMLSECRET\"\n"), 0o600))
	r := start(t, "KIMI_PRUNING_BACKEND=deepinfra", "DEEPINFRA_API_KEY=KEYSECRET", "MCP_PRUNER_CONFIG="+config,
		"DEEPINFRA_ENDPOINT_URL="+strings.Replace(cloud.URL, "//", "//user:URLSECRET@", 1))
	res := r.tool(t, "prune_text", pruneArgs("TEXTSECRET\nb\nc\nd", "GOALSECRET"))
	assert.Contains(t, res["warnings"], "deepinfra_http_error")
	r.post(t, "/rpc", `{"jsonrpc":"2.0","id":1,"method":"METHODSECRET","params":{"TEXTSECRET":1}}`)
	r.post(t, "/prune", `{"query":"GOALSECRET","code":"TEXTSECRET"}`)
	require.Zero(t, r.stop())
	assert.Contains(t, r.stderr.String(), "deepinfra_api_key")
	assert.NotContains(t, r.stderr.String(), "SECRET")
}

func TestRecoverySurvivesRestart(t *testing.T) {
	store := "MCP_PRUNER_RECOVERY_STORE=" + filepath.Join(t.TempDir(), "store.db")
	first := start(t, store)
	id := first.tool(t, "prune_text", pruneArgs("a\nb", "g"))["prune_id"]
	require.Zero(t, first.stop())
	got := start(t, store).tool(t, "recover_text", map[string]any{
		"prune_id": id, "ranges": []any{map[string]any{"start_line": 2, "end_line": 2}}, "include_line_numbers": false,
	})
	assert.Equal(t, "b", got["raw_text"])
}

func TestRunRefuses(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = taken.Close() }()
	_, port, _ := net.SplitHostPort(taken.Addr().String())
	for name, tc := range map[string]struct {
		args []string
		env  []string
		says string
	}{
		"public host":       {[]string{"--host", "0.0.0.0"}, nil, `--host=\"0.0.0.0\": want a loopback address`},
		"public host, env":  {nil, []string{"MCP_PRUNER_HOST=192.168.1.2"}, `MCP_PRUNER_HOST=\"192.168.1.2\": want a loopback address`},
		"port out of range": {[]string{"--port", "70000"}, nil, `--port=\"70000\": want an integer from 0 to 65535`},
		"no port":           {[]string{"--port", "http"}, nil, `--port=\"http\": want an integer from 0 to 65535`},
		"unknown flag":      {[]string{"--bogus"}, nil, "unknown flag: --bogus"},
		"port in env":       {nil, []string{"MCP_PRUNER_PORT=http"}, `MCP_PRUNER_PORT=\"http\": want an integer from 0 to 65535`},
		"several at once":   {nil, []string{"MCP_PRUNER_PORT=x", "MCP_PRUNER_PRUNE_ID_TTL_S=0"}, "MCP_PRUNER_PRUNE_ID_TTL_S"},
		"stray argument":    {[]string{"now"}, nil, `there is no argument "now"`},
		"missing file":      {nil, []string{"MCP_PRUNER_CONFIG=/no/such/file"}, "a readable TOML file"},
		"bad endpoint":      {nil, []string{"KIMI_PRUNING_BACKEND=cloud", "DEEPINFRA_ENDPOINT_URL=nowhere"}, "DEEPINFRA_ENDPOINT_URL"},
		"no store":          {nil, []string{"MCP_PRUNER_RECOVERY_STORE=/no/such/folder/f"}, "MCP_PRUNER_RECOVERY_STORE: open recovery store"},
		"port taken":        {[]string{"--port", port}, nil, "address already in use"},
	} {
		t.Run(name, func(t *testing.T) {
			code, stdout, stderr := runVerb(t, prunerCommand, tc.env, "", tc.args...)
			assert.Equal(t, command.Usage, code)
			assert.Contains(t, stderr, tc.says)
			assert.Empty(t, stdout)
		})
	}
}

// Fifty large prunes at once are all answered, a time limit is kept while the
// others are worked on, and health checks come through in between.
func TestManyAtOnce(t *testing.T) {
	r := start(t)
	var text strings.Builder
	for i := range 4000 {
		fmt.Fprintf(&text, "line %d of a text that is long enough to keep a processor busy\n", i*i%977)
	}
	var all sync.WaitGroup
	for i := range 50 {
		all.Go(func() {
			args := pruneArgs(fmt.Sprint(text.String(), i), "what keeps the processor busy 42")
			res := r.tool(t, "prune_text", args)
			assert.Contains(t, res, "stats")
		})
	}
	done := make(chan struct{})
	go func() { all.Wait(); close(done) }()
	for checks := 0; ; checks++ {
		select {
		case <-done:
			assert.Positive(t, checks)
			return
		default:
		}
		client := http.Client{Timeout: 10 * time.Second}
		resp, err := client.Get(r.url + "/health")
		require.NoError(t, err)
		_ = resp.Body.Close()
	}
}
