package telemetry

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/telemetry/telemetrytest"
)

// observe makes two calls past an exporter, each a batch of its own, ends it, and returns the warnings.
func observe(t *testing.T, env ...string) []string {
	t.Helper()
	t.Setenv("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "1")
	var logs eventLog
	p, end := pipeline(t, Options{Env: env, Emit: logs.emit})
	call(p, nil, map[string]any{"text": "x"}, "")
	call(p, nil, map[string]any{"text": "x"}, "")
	end()
	return logs.warnings(t)
}

func TestACollectorThatFailsIsReportedOnce(t *testing.T) {
	elsewhere := telemetrytest.NewCollector(t)
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		said   string
	}{
		"refuses":   {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }, "the collector answered 401 Unauthorized"},
		"is broken": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }, "the collector answered 502 Bad Gateway"},
		"redirects": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere.URL+"/v1/traces", http.StatusTemporaryRedirect)
		}, "the collector answered 307 Temporary Redirect"},
		"closes": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "EOF"},
	} {
		s := httptest.NewServer(c.answer)
		warnings := observe(t, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT="+s.URL+"/"+secret+"?token="+secret, "OTEL_EXPORTER_OTLP_HEADERS=api-key="+secret)
		s.Close()
		require.Len(t, warnings, 1, name)
		assert.Contains(t, warnings[0], "spans cannot be sent: "+c.said, name)
	}
	assert.Empty(t, elsewhere.Spans(), "headers are for the configured host only")
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	warnings := observe(t, "OTEL_EXPORTER_OTLP_ENDPOINT="+gone.URL)
	require.Len(t, warnings, 1)
	assert.Contains(t, warnings[0], "spans cannot be sent: dial tcp")
}

// A collector that never answers delays neither a call nor, beyond endWithin, the end.
func TestACollectorThatHangs(t *testing.T) {
	received, hold := make(chan struct{}, 1), make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		select {
		case received <- struct{}{}:
		default:
		}
		<-hold
	}))
	defer s.Close()
	defer close(hold)
	t.Setenv("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "1")
	var logs eventLog
	told := Open(Options{Env: []string{"OTEL_EXPORTER_OTLP_ENDPOINT=" + s.URL}, Emit: logs.emit})
	p, _ := pipeline(t, Options{Emit: logs.emit})
	p.Observers = told.Observers
	call(p, nil, map[string]any{"text": "x"}, "")
	<-received
	for range 5000 { // more than the queue holds
		call(p, nil, map[string]any{"text": "x"}, "")
	}
	assert.ErrorIs(t, told.Close(), context.DeadlineExceeded)
	assert.Contains(t, logs.warnings(t), "telemetry: the last spans are lost: the collector did not take them within 1s")
}

func TestUnusableSettingsAreReported(t *testing.T) {
	for want, env := range map[string][]string{
		"is no http or https URL; no spans are sent":                     {"OTEL_EXPORTER_OTLP_ENDPOINT=collector:4318"},
		"TRACES_ENDPOINT is no http or https URL; no spans are sent":     {"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=" + secret},
		`"grpc" is not supported: set OTEL_EXPORTER_OTLP_PROTOCOL=http/`: {"OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4317", "OTEL_EXPORTER_OTLP_PROTOCOL=grpc"},
		`"http/json" is not supported`:                                   {"OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4318", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL=http/json"},
	} {
		var logs eventLog
		assert.Empty(t, Open(Options{Env: env, Emit: logs.emit}).Observers)
		require.Len(t, logs.warnings(t), 1)
		assert.Contains(t, logs.warnings(t)[0], want)
	}
}

// A header that cannot be sent is reported without its text: whoever writes "Authorization: KEY" has written a key.
func TestHeadersForTheCollector(t *testing.T) {
	for list, want := range map[string]http.Header{
		"":                               {},
		"a=1, b = x%20y ,,c=":            {"A": {"1"}, "B": {"x y"}, "C": {""}},
		"a=b=c":                          {"A": {"b=c"}},
		"authorization=Basic%20aGk6eA==": {"Authorization": {"Basic aGk6eA=="}},
	} {
		got, err := parseHeaders(list)
		require.NoError(t, err, list)
		assert.Equal(t, want, got, list)
	}
	for _, entry := range []string{secret, "Authorization: Basic " + secret + "==", "=" + secret, "a=%zz" + secret, "a=" + secret + "%0d%0aHost: x"} {
		got, err := parseHeaders("first=1," + entry + ",last=3")
		require.ErrorContains(t, err, "entry 2 of the headers")
		assert.NotContains(t, err.Error(), secret)
		assert.Equal(t, http.Header{"First": {"1"}, "Last": {"3"}}, got, entry)
	}
}

// The SDK reads its variables from the process. What it cannot use costs no span.
func TestResourceAndSampler(t *testing.T) {
	c := telemetrytest.NewCollector(t)
	spansOf := func(settings ...string) (spans int, warnings string) {
		for _, s := range settings {
			name, value, _ := strings.Cut(s, "=")
			t.Setenv(name, value)
		}
		before := len(c.Spans())
		warnings = strings.Join(observe(t, "OTEL_EXPORTER_OTLP_ENDPOINT="+c.URL), "; ")
		return len(c.Spans()) - before, warnings
	}
	spans, warnings := spansOf()
	assert.Equal(t, 2, spans)
	assert.Empty(t, warnings)
	assert.Equal(t, "mcp-pruner", c.Resource()["service.name"])

	spans, warnings = spansOf("OTEL_SERVICE_NAME=agents", "OTEL_RESOURCE_ATTRIBUTES=team=core,deployment.environment.name=a%20b")
	assert.Equal(t, 2, spans)
	assert.Empty(t, warnings)
	assert.Equal(t, "agents", c.Resource()["service.name"])
	assert.Equal(t, "core", c.Resource()["team"])
	assert.Equal(t, "a b", c.Resource()["deployment.environment.name"])

	spans, warnings = spansOf("OTEL_RESOURCE_ATTRIBUTES=team=core,"+secret, "OTEL_TRACES_SAMPLER=never_heard_of")
	assert.Equal(t, 2, spans)
	assert.Contains(t, warnings, "OTEL_RESOURCE_ATTRIBUTES: entries that are not name=value are left out")
	assert.Contains(t, warnings, "never_heard_of")
	assert.Equal(t, "core", c.Resource()["team"])

	spans, warnings = spansOf("OTEL_RESOURCE_ATTRIBUTES=", "OTEL_TRACES_SAMPLER=always_off")
	assert.Zero(t, spans)
	assert.Empty(t, warnings)
}
