// Package telemetrytest reads what telemetry shows: GET /metrics, with the parser and the rules of Prometheus, and the
// spans that a collector receives.
package telemetrytest

import (
	"bytes"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// Secret stands in tests for everything that must not leave the process. It may be in no metric and no span.
const Secret = "hunter2"

// Metrics are the families of one scrape.
type Metrics map[string]*dto.MetricFamily

// Scrape reads GET /metrics.
func Scrape(t *testing.T, url string) Metrics {
	t.Helper()
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(text(t, url)))
	require.NoError(t, err)
	return families
}

// Lint reads GET /metrics and checks it by the rules of "promtool check metrics".
func Lint(t *testing.T, url string) {
	t.Helper()
	problems, err := promlint.New(bytes.NewReader(text(t, url))).Lint()
	require.NoError(t, err)
	assert.Empty(t, problems)
}

func text(t *testing.T, url string) []byte {
	t.Helper()
	answer, err := http.Get(url)
	require.NoError(t, err)
	defer answer.Body.Close()
	require.Equal(t, http.StatusOK, answer.StatusCode)
	require.Contains(t, answer.Header.Get("Content-Type"), "text/plain; version=0.0.4")
	body, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	assert.NotContains(t, string(body), Secret)
	return body
}

// Documented returns the metrics in the first table of docs/TEAMS.md with their labels.
func Documented(t *testing.T, page string) map[string][]string {
	t.Helper()
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	metrics, _, _ := strings.Cut(string(text), "\n## OpenTelemetry")
	all := make(map[string][]string)
	for line := range strings.Lines(metrics) {
		cells := strings.Split(line, "|")
		if len(cells) < 4 || !strings.HasPrefix(cells[1], " `mcp_") {
			continue
		}
		var labels []string
		for _, l := range quoted().FindAllStringSubmatch(cells[2], -1) {
			labels = append(labels, l[1])
		}
		for _, name := range quoted().FindAllStringSubmatch(cells[1], -1) {
			all[name[1]] = labels
		}
	}
	require.NotEmpty(t, all)
	return all
}

var quoted = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("`([^`]+)`") })

// Sum adds the series that have the given labels; their other labels may be anything. Histograms count their observations.
func (m Metrics) Sum(name string, labels map[string]string) (total float64) {
	for _, series := range m[name].GetMetric() {
		matching := 0
		for _, l := range series.GetLabel() {
			if want, asked := labels[l.GetName()]; asked && want == l.GetValue() {
				matching++
			}
		}
		if matching == len(labels) {
			total += series.GetCounter().GetValue() + series.GetGauge().GetValue() + float64(series.GetHistogram().GetSampleCount())
		}
	}
	return total
}

// Collector is a receiver of OTLP over HTTP.
type Collector struct {
	*httptest.Server
	mu       sync.Mutex
	spans    []*tracepb.Span
	resource map[string]string
	header   http.Header
}

// NewCollector starts a collector that ends with the test.
func NewCollector(t *testing.T) *Collector {
	c := new(Collector)
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		assert.NoError(t, err)
		assert.NotContains(t, string(body), Secret)
		var batch tracepb.TracesData // on the wire an ExportTraceServiceRequest is the same
		if !assert.Equal(t, "/v1/traces", r.URL.Path) || !assert.NoError(t, proto.Unmarshal(body, &batch)) {
			return
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.header = r.Header
		for _, rs := range batch.GetResourceSpans() {
			c.resource = attributes(rs.GetResource().GetAttributes())
			for _, ss := range rs.GetScopeSpans() {
				c.spans = append(c.spans, ss.GetSpans()...)
			}
		}
	}))
	t.Cleanup(c.Close)
	return c
}

// Spans returns the spans that have arrived.
func (c *Collector) Spans() []*tracepb.Span {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.spans
}

// Resource returns the attributes of the latest batch's resource.
func (c *Collector) Resource() map[string]string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.resource
}

// Header returns the header of the latest batch.
func (c *Collector) Header() http.Header {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.header
}

// Attributes returns the attributes of a span that are strings.
func Attributes(s *tracepb.Span) map[string]string { return attributes(s.GetAttributes()) }

// Rows returns the names of a span's events, which are the rows its machine took.
func Rows(s *tracepb.Span) (rows []string) {
	for _, e := range s.GetEvents() {
		rows = append(rows, e.GetName())
	}
	return rows
}

// Parent returns a span's trace and the span above it in the form of a traceparent, without version and flags.
func Parent(s *tracepb.Span) string {
	return hex.EncodeToString(s.GetTraceId()) + "-" + hex.EncodeToString(s.GetParentSpanId())
}

func attributes(list []*commonpb.KeyValue) map[string]string {
	all := make(map[string]string)
	for _, a := range list {
		all[a.GetKey()] = a.GetValue().GetStringValue()
	}
	return all
}
