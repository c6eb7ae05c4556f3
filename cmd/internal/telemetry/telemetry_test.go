package telemetry

import (
	"context"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"mcp-pruner/fsm"
	"mcp-pruner/fsm/event"
	"mcp-pruner/pruneclient"
	"mcp-pruner/states"
	"mcp-pruner/tools"
	"mcp-pruner/tools/tooltest"
)

// secret stands for everything that must not leave the process.
const secret = "hunter2"

// eventLog keeps events.
type eventLog struct {
	mu     sync.Mutex
	events []event.Event
}

func (l *eventLog) emit(e event.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.events = append(l.events, e)
}

func (l *eventLog) first(name string) event.Facts {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range l.events {
		if e.Name == name {
			return e.Data
		}
	}
	return nil
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

// scrape reads GET /metrics with the parser that Prometheus uses for the text format.
func scrape(t *testing.T, url string) map[string]*dto.MetricFamily {
	t.Helper()
	answer, err := http.Get(url)
	require.NoError(t, err)
	defer answer.Body.Close()
	require.Equal(t, http.StatusOK, answer.StatusCode)
	body, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	assert.NotContains(t, string(body), secret)
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(string(body)))
	require.NoError(t, err)
	return families
}

// value is that of the series with the given labels; every other label may be anything.
func value(t *testing.T, families map[string]*dto.MetricFamily, name string, labels map[string]string) float64 {
	t.Helper()
	sum := 0.0
	for _, m := range families[name].GetMetric() {
		matching := 0
		for _, l := range m.GetLabel() {
			if want, asked := labels[l.GetName()]; asked && want == l.GetValue() {
				matching++
			}
		}
		if matching == len(labels) {
			sum += m.GetCounter().GetValue() + m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount())
		}
	}
	return sum
}

func TestNothingIsObservedUnlessItIsAskedFor(t *testing.T) {
	assert.Zero(t, Open(Options{Emit: func(event.Event) {}}))
	for _, off := range []string{"OTEL_SDK_DISABLED=true", "OTEL_TRACES_EXPORTER=none"} {
		assert.Zero(t, Open(Options{Env: []string{"OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:1", off}, Emit: func(event.Event) {}}), off)
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
	got := scrape(t, url)
	operation := func(failure string) float64 {
		return value(t, got, "mcp_server_operation_duration_seconds", map[string]string{
			"mcp_method_name": "tools/call", "gen_ai_operation_name": "execute_tool", "network_transport": "tcp", "error_type": failure,
		})
	}
	assert.InDelta(t, 2, operation(""), 0)
	assert.InDelta(t, 1, operation("tool_error"), 0)
	assert.InDelta(t, 1, operation("invalid_params"), 0)
	assert.InDelta(t, 3, value(t, got, "mcp_server_operation_duration_seconds", map[string]string{"gen_ai_tool_name": "echo"}), 0)
	for reason, n := range map[string]float64{"applied": 1, "no_focus_question": 2, "invalid_params": 1, "invalid_message": 1} {
		assert.InDelta(t, n, value(t, got, "mcp_pruner_decisions_total", map[string]string{"reason": reason}), 0, reason)
	}
	assert.InDelta(t, 2, value(t, got, "mcp_pruner_requests_total", map[string]string{"outcome": "responded"}), 0)

	total := func(name string) float64 { return value(t, got, name, map[string]string{"tool": "echo"}) }
	raw, sent, question, recovered := total("mcp_pruner_raw_tokens_total"), total("mcp_pruner_sent_tokens_total"),
		total("mcp_pruner_question_tokens_total"), total("mcp_pruner_recovered_tokens_total")
	assert.Greater(t, recovered, 100.0)
	assert.Greater(t, sent, recovered)
	assert.InDelta(t, raw-sent-question-recovered, total("mcp_pruner_net_tokens"), 0)
	assert.InDelta(t, 1, value(t, got, "mcp_pruner_build_info", map[string]string{"version": "1.2.3"}), 0)
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

func TestAPortThatIsTakenIsSaidAndStopsNothing(t *testing.T) {
	other := httptest.NewServer(http.NotFoundHandler())
	defer other.Close()
	var logs eventLog
	p, end := pipeline(t, Options{Metrics: other.Listener.Addr().String(), Emit: logs.emit})
	defer end()
	assert.Empty(t, p.Observers)
	assert.Contains(t, logs.first("mcp_pruner.warning")["message"], "MCP_PRUNER_METRICS")
}

// collector is a receiver of OTLP over HTTP.
func collector(t *testing.T) (url string, spans func() []*tracepb.Span, header func() http.Header) {
	var mu sync.Mutex
	var got []*tracepb.Span
	var with http.Header
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var batch tracepb.TracesData // on the wire an ExportTraceServiceRequest is the same
		if r.URL.Path != "/v1/traces" || proto.Unmarshal(body, &batch) != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		mu.Lock()
		defer mu.Unlock()
		with = r.Header
		for _, rs := range batch.GetResourceSpans() {
			for _, ss := range rs.GetScopeSpans() {
				got = append(got, ss.GetSpans()...)
			}
		}
		assert.NotContains(t, string(body), secret)
	}))
	t.Cleanup(s.Close)
	return s.URL, func() []*tracepb.Span { mu.Lock(); defer mu.Unlock(); return got },
		func() http.Header { mu.Lock(); defer mu.Unlock(); return with }
}

func TestSpans(t *testing.T) {
	url, spans, header := collector(t)
	p, end := pipeline(t, Options{
		Env: []string{"OTEL_EXPORTER_OTLP_ENDPOINT=" + url, "OTEL_EXPORTER_OTLP_HEADERS=api-key=a%20b"}, Transport: "pipe", Emit: new(eventLog).emit,
	})
	const parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	call(p, new(states.Session), map[string]any{"text": strings.Repeat("words ", 90) + secret, "question": secret}, parent)
	call(p, new(states.Session), map[string]any{"text": "fail"}, "")
	end()
	got := spans()
	require.Len(t, got, 2)
	assert.Equal(t, "a b", header().Get("Api-Key"))

	pruned, failed := got[0], got[1]
	assert.Equal(t, "tools/call echo", pruned.GetName())
	assert.Equal(t, tracepb.Span_SPAN_KIND_SERVER, pruned.GetKind())
	assert.Equal(t, "0af7651916cd43dd8448eb211c80319c", hexOf(pruned.GetTraceId()))
	assert.Equal(t, "b7ad6b7169203331", hexOf(pruned.GetParentSpanId()))
	attributes := attributesOf(pruned)
	assert.Equal(t, "tools/call", attributes["mcp.method.name"])
	assert.Equal(t, "echo", attributes["gen_ai.tool.name"])
	assert.Equal(t, "pipe", attributes["network.transport"])
	assert.Equal(t, "pruned", attributes["mcp_pruner.decision"])
	var rows []string
	for _, e := range pruned.GetEvents() {
		rows = append(rows, e.GetName())
	}
	assert.Equal(t, []string{"accept", "arguments_valid", "tool_succeeded", "output_captured", "eligible", "pruned", "written"}, rows)

	assert.Equal(t, tracepb.Status_STATUS_CODE_ERROR, failed.GetStatus().GetCode())
	assert.Equal(t, "tool_error", attributesOf(failed)["error.type"])
	assert.Empty(t, failed.GetParentSpanId())
}

func hexOf(b []byte) string { return hex.EncodeToString(b) }

func attributesOf(s *tracepb.Span) map[string]string {
	all := make(map[string]string)
	for _, a := range s.GetAttributes() {
		all[a.GetKey()] = a.GetValue().GetStringValue()
	}
	return all
}

func TestACollectorThatIsDownIsSaidOnce(t *testing.T) {
	var logs eventLog
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	told := Open(Options{Env: []string{"OTEL_EXPORTER_OTLP_ENDPOINT=" + gone.URL}, Emit: logs.emit})
	p, _ := pipeline(t, Options{Emit: logs.emit})
	p.Observers = told.Observers
	call(p, nil, map[string]any{"text": "x"}, "")
	_ = told.Close() // says so, too
	assert.Contains(t, logs.first("mcp_pruner.warning")["message"], "spans cannot be sent")
}

func TestWhatCannotBeUsedIsSaid(t *testing.T) {
	for _, env := range [][]string{
		{"OTEL_EXPORTER_OTLP_ENDPOINT=collector:4318"},
		{"OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4317", "OTEL_EXPORTER_OTLP_PROTOCOL=grpc"},
	} {
		var logs eventLog
		assert.Empty(t, Open(Options{Env: env, Emit: logs.emit}).Observers)
		assert.Contains(t, logs.first("mcp_pruner.warning")["message"], "no spans are sent", env)
	}
}
