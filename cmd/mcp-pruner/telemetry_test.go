//go:build unix

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/telemetry/telemetrytest"
)

// private stands in arguments and results: it must be in no metric and in no span.
const private = telemetrytest.Secret

// TestTelemetryOfEveryServer runs the program as each of its servers, makes a request of
// each kind, and reads GET /metrics and the spans that a collector received.
func TestTelemetryOfEveryServer(t *testing.T) {
	for _, verb := range []string{"serve", "pruner", "gateway", "proxy"} {
		t.Run(verb, func(t *testing.T) {
			c := telemetrytest.NewCollector(t)
			s := startObserved(t, verb, c.URL)
			switch verb {
			case "pruner":
				s.prune()
			case "proxy":
				s.messages()
			case "gateway":
				s.read("files_read")
			default:
				s.read("read")
			}
			got := s.metrics()
			assert.InDelta(t, 1, got.Sum("mcp_pruner_build_info", nil), 0)
			assert.InDelta(t, 1, got.Sum("mcp_pruner_requests_total", map[string]string{"outcome": "responded"}), 0)
			for family := range telemetrytest.Documented(t, "../../docs/TEAMS.md") {
				if family == "mcp_pruner_database_up" {
					assert.Nil(t, got[family], "there is none")
				} else if verb != "proxy" || !strings.HasPrefix(family, "mcp_server_") { // it serves no MCP
					assert.NotNil(t, got[family], family)
				}
			}
			raw, sent := got.Sum("mcp_pruner_raw_tokens_total", nil), got.Sum("mcp_pruner_sent_tokens_total", nil)
			asked, net := got.Sum("mcp_pruner_question_tokens_total", nil), got.Sum("mcp_pruner_net_tokens", nil)
			assert.Positive(t, sent)
			assert.InDelta(t, raw-sent-asked, net, 0)
			assert.InDelta(t, 1, got.Sum("mcp_pruner_decisions_total", nil), 0)
			if verb != "gateway" { // it prunes only what its user names
				assert.InDelta(t, 1, got.Sum("mcp_pruner_decisions_total", map[string]string{"decision": "pruned", "reason": "applied"}), 0)
				assert.Greater(t, raw, 2*sent)
			}
			for _, method := range []string{"initialize", "ping", "tools/list", "tools/call"} {
				n := 1
				if verb == "proxy" {
					n = 0
				}
				assert.InDelta(t, n, got.Sum("mcp_server_operation_duration_seconds", map[string]string{"mcp_method_name": method, "error_type": ""}), 0, method)
			}
			s.end()
			spans := c.Spans()
			require.Len(t, spans, 1)
			assert.Subset(t, telemetrytest.Rows(spans[0]), []string{"accept", "arguments_valid", "tool_succeeded", "written"})
			if verb == "serve" || verb == "gateway" {
				assert.Equal(t, caller, telemetrytest.Parent(spans[0]))
			}
			if verb == "gateway" {
				trace, err := os.ReadFile(filepath.Join(s.root, "upstream.jsonl"))
				require.NoError(t, err)
				assert.Contains(t, string(trace), `"traceparent":"00-`+caller+`-01"`, "_meta is passed on")
			}
		})
	}
}

// TestTelemetryHoldsNoArguments makes calls whose arguments, results, errors and names are private. Their span has the caller's
// span as parent, which is in log and trace, too.
func TestTelemetryHoldsNoArguments(t *testing.T) {
	c := telemetrytest.NewCollector(t)
	o := startObserved(t, "serve", c.URL, "MCP_PRUNER_LOG_LEVEL=debug", "OTEL_EXPORTER_OTLP_HEADERS=api-key="+private)
	o.handshake()
	calls := []map[string]any{
		{"name": "read", "arguments": map[string]any{"file_path": filepath.Join(o.root, private)}},
		{"name": "read", "arguments": map[string]any{"file_path": filepath.Join(o.root, "limits.go"), "context_focus_question": about}},
		{"name": "bash", "arguments": map[string]any{"command": "echo " + private + " >&2; exit 3", "context_focus_question": about}},
		{"name": "grep", "arguments": map[string]any{"pattern": private, "path": o.root}},
		{"name": "read", "arguments": map[string]any{private: private}},
		{"name": private, "arguments": map[string]any{}},
	}
	for _, params := range calls {
		params["_meta"] = map[string]any{"traceparent": "00-" + caller + "-01", "tracestate": strings.Repeat("k="+private+",", 9000)}
		o.send("tools/call", params)
	}
	o.send("hunter2/"+private, map[string]any{})
	assert.InDelta(t, len(calls)+1, o.metrics().Sum("mcp_pruner_requests_total", nil), 0)
	o.end()
	spans := c.Spans()
	require.Len(t, spans, len(calls)+1)
	for _, s := range spans[:len(calls)] {
		assert.Equal(t, caller, telemetrytest.Parent(s))
	}
	assert.Equal(t, private, c.Header().Get("Api-Key"))
	assert.NotContains(t, o.log.String(), "api-key")
	assert.Equal(t, len(calls), strings.Count(o.log.String(), `"traceparent":"00-`+caller+`-01"`))
	trace, err := os.ReadFile(filepath.Join(o.root, "trace.jsonl"))
	require.NoError(t, err)
	assert.Equal(t, len(calls), strings.Count(string(trace), `"traceparent":"00-`+caller+`-01"`))
}

// observed is a server of the program with metrics and spans.
type observed struct {
	*server
	ready, scrape string // URLs
	drained       chan struct{}
	client        http.Client
	session       string
	log           bytes.Buffer // to be read after end
}

// startObserved starts a verb and waits for its two addresses.
func startObserved(t *testing.T, verb, collector string, env ...string) *observed {
	t.Helper()
	cmd, root := program(t, append(env, "PRUNER_URL=embedded", "MCP_PRUNER_METRICS=0", "OTEL_EXPORTER_OTLP_ENDPOINT="+collector)...)
	cmd.Env = append(cmd.Env, "MCP_PRUNER_TRACE="+filepath.Join(root, "trace.jsonl"))
	require.NoError(t, os.WriteFile(filepath.Join(root, "limits.go"), []byte(limits()), 0o600))
	cmd.Dir = root
	cmd.Args = append(cmd.Args, verb, "--port", "0")
	switch verb {
	case "gateway":
		config, err := json.Marshal(map[string]any{"mcpServers": map[string]any{"files": map[string]any{
			"command": cmd.Path, "env": map[string]string{"PRUNER_URL": "", "MCP_PRUNER_METRICS": "", "OTEL_SDK_DISABLED": "true", "MCP_PRUNER_CWD": root, "MCP_PRUNER_TRACE": filepath.Join(root, "upstream.jsonl")},
		}}})
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(root, "servers.json"), config, 0o600))
		cmd.Args = append(cmd.Args, "--http", "--mode", "trim", "servers.json")
	case "proxy":
		api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"type":"message","role":"assistant","content":[],"usage":{"input_tokens":1,"output_tokens":1}}`)
		}))
		t.Cleanup(api.Close)
		cmd.Args = append(cmd.Args, "--upstream", api.URL, "--policy", "both", "--store", filepath.Join(root, "ledger.db"))
	}
	logs, err := cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	o := &observed{server: &server{Cmd: cmd, t: t, root: root}, drained: make(chan struct{})}
	o.client.Transport = &http.Transport{MaxConnsPerHost: 1}
	t.Cleanup(o.client.CloseIdleConnections)
	t.Cleanup(func() { _ = cmd.Process.Kill(); <-o.drained; _ = cmd.Wait() })
	lines := bufio.NewScanner(logs)
	for (o.ready == "" || o.scrape == "") && lines.Scan() {
		var event struct {
			Event string
			Data  struct {
				URL  string
				File string `json:"url_file"`
			}
		}
		require.NoError(t, json.Unmarshal(lines.Bytes(), &event))
		switch event.Event {
		case "mcp_pruner.ready":
			o.ready = event.Data.URL
		case "proxy.ready":
			address, err := os.ReadFile(event.Data.File)
			require.NoError(t, err)
			o.ready = strings.TrimSpace(string(address))
		case "mcp_pruner.metrics_ready":
			o.scrape = event.Data.URL
		}
	}
	go func() {
		defer close(o.drained)
		_, _ = io.Copy(&o.log, logs)
	}()
	require.NotEmpty(t, o.ready)
	require.NotEmpty(t, o.scrape)
	return o
}

// limits is a file with one line that answers a question, and the private text.
func limits() string {
	var b strings.Builder
	b.WriteString("package limits\n\nconst password = \"" + private + "\"\n\n")
	for n := range 200 {
		if n == 100 {
			b.WriteString("// retryLimit is how often a request is sent again.\nconst retryLimit = 3\n\n")
		}
		fmt.Fprintf(&b, "// area%d returns the area of a field of that width.\nfunc area%d(width int) int {\n\treturn width * %d\n}\n\n", n, n, n)
	}
	return b.String()
}

// caller is the trace and the span of the caller.
const caller = "0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331"

const about = "what is the retry limit? not " + private

// read makes one request of each method; the tool with that name reads the file.
func (o *observed) read(tool string) {
	o.handshake()
	o.rpc("tools/call", map[string]any{"name": tool, "arguments": map[string]any{
		"file_path": filepath.Join(o.root, "limits.go"), "context_focus_question": about,
	}, "_meta": map[string]any{"traceparent": "00-" + caller + "-01"}})
}

// prune asks the line pruner's own tool.
func (o *observed) prune() {
	o.handshake()
	o.rpc("tools/call", map[string]any{"name": "prune_text", "arguments": map[string]any{
		"text": limits(), "goal_hint": about, "source_type": "code", "options": map[string]any{
			"annotate_lines": false, "include_markers": true, "max_prune_ratio": 1, "min_keep_lines": 1, "timeout_ms": 10000,
		},
	}})
}

func (o *observed) handshake() {
	o.rpc("initialize", map[string]any{"protocolVersion": "2025-06-18", "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "test", "version": "1"}})
	o.rpc("ping", map[string]any{})
	o.rpc("tools/list", map[string]any{})
}

func (o *observed) rpc(method string, params map[string]any) {
	o.t.Helper()
	answer := o.send(method, params)
	require.NotContains(o.t, answer, `"error"`)
	require.NotContains(o.t, answer, `"isError":true`)
}

func (o *observed) send(method string, params map[string]any) string {
	o.t.Helper()
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	require.NoError(o.t, err)
	return o.post(o.ready, string(body))
}

func (o *observed) post(url, body string) string {
	o.t.Helper()
	r, err := http.NewRequestWithContext(o.t.Context(), http.MethodPost, url, strings.NewReader(body))
	require.NoError(o.t, err)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	if o.session != "" {
		r.Header.Set("Mcp-Session-Id", o.session)
	}
	answer, err := o.client.Do(r)
	require.NoError(o.t, err)
	defer answer.Body.Close()
	if id := answer.Header.Get("Mcp-Session-Id"); id != "" {
		o.session = id
	}
	text, err := io.ReadAll(answer.Body)
	require.NoError(o.t, err)
	require.Equal(o.t, http.StatusOK, answer.StatusCode, "%s", text)
	return string(text)
}

// messages sends a conversation whose last message is the result of a read.
func (o *observed) messages() {
	body, err := json.Marshal(map[string]any{"model": "claude-opus-5", "max_tokens": 10, "tools": []any{map[string]any{"name": "Bash"}}, "messages": []any{
		map[string]any{"role": "user", "content": about},
		map[string]any{"role": "assistant", "content": []any{map[string]any{
			"type": "tool_use", "id": "toolu_1", "name": "Read", "input": map[string]any{"file_path": filepath.Join(o.root, "limits.go")},
		}}},
		map[string]any{"role": "user", "content": []any{map[string]any{"type": "tool_result", "tool_use_id": "toolu_1", "content": numbered(limits())}}},
	}})
	require.NoError(o.t, err)
	o.post(o.ready+"/v1/messages", string(body))
}

// numbered is a text as Claude Code's Read shows it.
func numbered(text string) string {
	var b strings.Builder
	for i, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		fmt.Fprintf(&b, "%6d\t%s\n", i+1, line)
	}
	return b.String()
}

// metrics reads GET /metrics. A server counts a request after its answer, but before it reads
// the next request of the connection.
func (o *observed) metrics() telemetrytest.Metrics {
	o.t.Helper()
	next, err := o.client.Get(strings.TrimSuffix(o.ready, "/mcp") + "/healthz")
	require.NoError(o.t, err)
	require.NoError(o.t, next.Body.Close())
	telemetrytest.Lint(o.t, o.scrape)
	return telemetrytest.Scrape(o.t, o.scrape)
}

// end asks the server to end and waits until it has.
func (o *observed) end() {
	o.t.Helper()
	require.NoError(o.t, o.Process.Signal(syscall.SIGTERM))
	<-o.drained
	require.NoError(o.t, o.Wait())
}
