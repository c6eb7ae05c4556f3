package telemetry

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/telemetry/telemetrytest"
	"github.com/mcp-pruner/mcp-pruner/fsm"
	"github.com/mcp-pruner/mcp-pruner/pruneclient"
	"github.com/mcp-pruner/mcp-pruner/states"
	"github.com/mcp-pruner/mcp-pruner/tools"
	"github.com/mcp-pruner/mcp-pruner/tools/tooltest"
)

const secret = telemetrytest.Secret

// eventLog keeps events.
type eventLog struct {
	mu     sync.Mutex
	events []fsm.Event
}

func (l *eventLog) emit(e fsm.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.events = append(l.events, e)
}

func (l *eventLog) first(name string) fsm.Facts {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range l.events {
		if e.Name == name {
			return e.Data
		}
	}
	return nil
}

// warnings returns the messages of the warnings. They contain no secret.
func (l *eventLog) warnings(t *testing.T) (list []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range l.events {
		if e.Name == "mcp_pruner.warning" {
			assert.NotContains(t, e.Data["message"], secret)
			list = append(list, fmt.Sprint(e.Data["message"]))
		}
	}
	return list
}

// echo is a call whose output is its text.
type echo struct{ text, question string }

func (c echo) FocusQuestion() string { return c.question }

func (c echo) Subject() tools.Subject { return tools.Subject{Path: c.text} }

func (c echo) Run(context.Context) (tools.Output, error) {
	if c.text == "fail" {
		return nil, &tools.Error{Code: "not_found", Message: secret}
	}
	return tooltest.Output(c.text), nil
}

// short prunes everything to one word.
type short struct{}

func (short) Prune(context.Context, pruneclient.Request) (pruneclient.Result, error) {
	return pruneclient.Result{Text: "cut"}, nil
}

func (short) Endpoint() string { return "test" }

// pipeline runs calls past the observers of the options.
func pipeline(t *testing.T, o Options) (*states.Pipeline, func()) {
	told := Open(o)
	p := &states.Pipeline{
		Machine: fsm.MustCompile(fsm.RequestTable()), Pruner: short{}, Observers: told.Observers,
		Keep: func(context.Context, string) (string, error) { return "prn_1", nil },
		Tools: []tools.Tool{{Name: "echo", Check: func(args map[string]any) (tools.Call, []tools.Issue) {
			text, _ := args["text"].(string)
			question, _ := args["question"].(string)
			if text == "" {
				return nil, []tools.Issue{{Path: "text", Code: "invalid_type"}}
			}
			return echo{text, question}, nil
		}}},
	}
	return p, func() {
		if told.Close != nil {
			require.NoError(t, told.Close())
		}
	}
}

func call(p *states.Pipeline, s *states.Session, args map[string]any, parent string) {
	c := p.Run(context.Background(), states.Request{
		Params: map[string]any{"name": "echo", "arguments": args}, Session: s, Client: "test", Parent: parent,
	})
	c.Answer()
	c.Answering(200)
	c.Written(context.Background())
}

func TestNothingIsObservedUnlessItIsAskedFor(t *testing.T) {
	assert.Zero(t, Open(Options{Emit: func(fsm.Event) {}}))
	for _, off := range []string{"OTEL_SDK_DISABLED=true", "OTEL_TRACES_EXPORTER=none"} {
		assert.Zero(t, Open(Options{Env: []string{"OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:1", off}, Emit: func(fsm.Event) {}}), off)
	}
}

func TestMetrics(t *testing.T) {
	var logs eventLog
	p, end := pipeline(t, Options{Metrics: "127.0.0.1:0", Version: "1.2.3", Transport: "tcp", Emit: logs.emit})
	session := new(states.Session)
	long := strings.Repeat("a long text of several words ", 50) + secret
	call(p, session, map[string]any{"text": long, "question": "what of " + secret + "?"}, "")
	call(p, session, map[string]any{"text": long}, "") // once more: what was pruned is recovered
	call(p, session, map[string]any{"text": "fail"}, "")
	call(p, session, map[string]any{}, "")
	p.Run(context.Background(), states.Request{Malformed: "no JSON"}).Answering(0)

	url, _ := logs.first("mcp_pruner.metrics_ready")["url"].(string)
	require.NotEmpty(t, url)
	telemetrytest.Lint(t, url)
	got := telemetrytest.Scrape(t, url)
	operation := func(failure string) float64 {
		return got.Sum("mcp_server_operation_duration_seconds", map[string]string{
			"mcp_method_name": "tools/call", "gen_ai_operation_name": "execute_tool", "network_transport": "tcp", "error_type": failure,
		})
	}
	assert.InDelta(t, 2, operation(""), 0)
	assert.InDelta(t, 1, operation("tool_error"), 0)
	assert.InDelta(t, 1, operation("invalid_params"), 0)
	assert.InDelta(t, 3, got.Sum("mcp_server_operation_duration_seconds", map[string]string{"gen_ai_tool_name": "echo"}), 0)
	for reason, n := range map[string]float64{"applied": 1, "no_focus_question": 2, "invalid_params": 1, "invalid_message": 1} {
		assert.InDelta(t, n, got.Sum("mcp_pruner_decisions_total", map[string]string{"reason": reason}), 0, reason)
	}
	assert.InDelta(t, 2, got.Sum("mcp_pruner_requests_total", map[string]string{"outcome": "responded"}), 0)

	total := func(name string) float64 { return got.Sum(name, map[string]string{"tool": "echo"}) }
	raw, sent, question, recovered := total("mcp_pruner_raw_tokens_total"), total("mcp_pruner_sent_tokens_total"),
		total("mcp_pruner_question_tokens_total"), total("mcp_pruner_recovered_tokens_total")
	assert.Greater(t, recovered, 100.0)
	assert.Greater(t, sent, recovered)
	assert.InDelta(t, raw-sent-question, total("mcp_pruner_net_tokens"), 0)
	assert.InDelta(t, raw, recovered, 20, "what was read only because of pruning is not in raw")
	assert.InDelta(t, 1, got.Sum("mcp_pruner_build_info", map[string]string{"version": "1.2.3"}), 0)
	end()
	_, err := http.Get(url)
	assert.Error(t, err)
}

func TestMetricsAreNotForWebPages(t *testing.T) {
	var logs eventLog
	_, end := pipeline(t, Options{Metrics: "127.0.0.1:0", Emit: logs.emit})
	defer end()
	r, err := http.NewRequest(http.MethodGet, logs.first("mcp_pruner.metrics_ready")["url"].(string), nil)
	require.NoError(t, err)
	r.Host = "evil.example"
	answer, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	defer answer.Body.Close()
	assert.Equal(t, http.StatusForbidden, answer.StatusCode)
}

// TestMetricsAskForTheirToken: with a token nobody reads the metrics without it, and beyond loopback nobody does without one.
func TestMetricsAskForTheirToken(t *testing.T) {
	file := filepath.Join(t.TempDir(), "token")
	require.NoError(t, os.WriteFile(file, []byte(secret+"\n"), 0o600))
	for _, o := range []Options{{Metrics: "127.0.0.1:0", Token: file}, {Metrics: "0.0.0.0:0", Token: file}, {Metrics: "0.0.0.0:0"}} {
		var logs eventLog
		o.Emit = logs.emit
		_, end := pipeline(t, o)
		url := strings.Replace(logs.first("mcp_pruner.metrics_ready")["url"].(string), "[::]", "127.0.0.1", 1)
		for sent, want := range map[string]int{"": 401, "Bearer ": 401, "Bearer other": 401, "Bearer " + secret: map[bool]int{true: 200, false: 401}[o.Token != ""]} {
			r, err := http.NewRequest(http.MethodGet, url, nil)
			require.NoError(t, err)
			r.Header.Set("Authorization", sent)
			answer, err := http.DefaultClient.Do(r)
			require.NoError(t, err)
			_ = answer.Body.Close()
			assert.Equal(t, want, answer.StatusCode, "%s %q", o.Metrics, sent)
		}
		end()
	}
	require.NoError(t, os.Chmod(file, 0o644))
	var logs eventLog
	p, end := pipeline(t, Options{Metrics: "127.0.0.1:0", Token: file, Emit: logs.emit})
	defer end()
	assert.Empty(t, p.Observers)
	assert.Contains(t, logs.first("mcp_pruner.warning")["message"], "others may read it")
}

func TestAPortThatIsTakenIsSaidAndStopsNothing(t *testing.T) {
	other := httptest.NewServer(http.NotFoundHandler())
	defer other.Close()
	var logs eventLog
	p, end := pipeline(t, Options{Metrics: other.Listener.Addr().String(), Emit: logs.emit})
	defer end()
	assert.Empty(t, p.Observers)
	assert.Contains(t, logs.first("mcp_pruner.warning")["message"], "MCP_PRUNER_METRICS")
}

func TestSpans(t *testing.T) {
	c := telemetrytest.NewCollector(t)
	p, end := pipeline(t, Options{
		Env: []string{"OTEL_EXPORTER_OTLP_ENDPOINT=" + c.URL, "OTEL_EXPORTER_OTLP_HEADERS=api-key=a%20b"}, Transport: "pipe", Emit: new(eventLog).emit,
	})
	const parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	call(p, new(states.Session), map[string]any{"text": strings.Repeat("words ", 90) + secret, "question": secret}, parent)
	call(p, new(states.Session), map[string]any{"text": "fail"}, "")
	end()
	got := c.Spans()
	require.Len(t, got, 2)
	assert.Equal(t, "a b", c.Header().Get("Api-Key"))

	pruned, failed := got[0], got[1]
	assert.Equal(t, "tools/call echo", pruned.GetName())
	assert.Equal(t, tracepb.Span_SPAN_KIND_SERVER, pruned.GetKind())
	assert.Equal(t, parent[3:52], telemetrytest.Parent(pruned))
	attributes := telemetrytest.Attributes(pruned)
	assert.Equal(t, "tools/call", attributes["mcp.method.name"])
	assert.Equal(t, "echo", attributes["gen_ai.tool.name"])
	assert.Equal(t, "pipe", attributes["network.transport"])
	assert.Equal(t, "pruned", attributes["mcp_pruner.decision"])
	assert.Equal(t, []string{"accept", "arguments_valid", "tool_succeeded", "output_captured", "eligible", "pruned", "written"},
		telemetrytest.Rows(pruned))

	assert.Equal(t, tracepb.Status_STATUS_CODE_ERROR, failed.GetStatus().GetCode())
	assert.Equal(t, "tool_error", telemetrytest.Attributes(failed)["error.type"])
	assert.Empty(t, failed.GetParentSpanId())
}
