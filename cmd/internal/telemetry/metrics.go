package telemetry

import (
	"context"
	"runtime"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/mcp-pruner/mcp-pruner/states"
)

// durations are the bounds that OpenTelemetry recommends for MCP operations, in seconds.
var durations = []float64{0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300}

// metrics is an observer that counts calls, their durations and their tokens.
type metrics struct {
	registry  *prometheus.Registry
	transport string
	names     bounded // tools
	reasons   bounded
	cut       cut
	recovers  sync.Map // *states.Delivery of answers that are being written and recover something

	operations *prometheus.HistogramVec
	pruner     prometheus.Histogram
	requests   *prometheus.CounterVec
	decisions  *prometheus.CounterVec
	raw        *prometheus.CounterVec
	sent       *prometheus.CounterVec
	question   *prometheus.CounterVec
	recovered  *prometheus.CounterVec
	net        *prometheus.GaugeVec
}

func newMetrics(version, transport string) *metrics {
	m := &metrics{registry: prometheus.NewRegistry(), transport: transport}
	m.operations = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "mcp_server_operation_duration_seconds", Buckets: durations,
		Help: "Duration of MCP requests, from receipt until the answer was written.",
	}, []string{"mcp_method_name", "gen_ai_operation_name", "gen_ai_tool_name", "error_type", "network_transport"})
	m.pruner = prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: "mcp_pruner_pruner_duration_seconds", Help: "Duration of calls of the pruner.",
		Buckets: []float64{0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30},
	})
	m.requests = counter("mcp_pruner_requests_total", "Requests by the state in which their machine ended.", "outcome")
	m.decisions = counter("mcp_pruner_decisions_total", "Outputs by what became of them, and why.", "tool", "decision", "reason")
	m.raw = counter("mcp_pruner_raw_tokens_total", "Estimated tokens of the answers to the same work, had nothing been pruned.", "tool")
	m.sent = counter("mcp_pruner_sent_tokens_total", "Estimated tokens of the answers.", "tool")
	m.question = counter("mcp_pruner_question_tokens_total", "Estimated tokens of the questions asked with calls.", "tool")
	m.recovered = counter("mcp_pruner_recovered_tokens_total", "Estimated tokens of those sent that are about what had been pruned before.", "tool")
	m.net = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "mcp_pruner_net_tokens", Help: "Estimated tokens saved since the start: raw less sent, less questions.",
	}, []string{"tool"})
	info := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "mcp_pruner_build_info", Help: "1, with the versions of the program and of Go.",
		ConstLabels: prometheus.Labels{"version": version, "goversion": runtime.Version()},
	})
	info.Set(1)
	m.registry.MustRegister(info, m.pruner, m.requests, m.decisions, m.raw, m.sent, m.question, m.recovered, m.net)
	if transport != "" {
		m.registry.MustRegister(m.operations)
	}
	return m
}

// databaseGauge asks at each scrape whether the database can be used.
func databaseGauge(why func(context.Context) error) prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "mcp_pruner_database_up", Help: "1 if the database can be used, 0 if results come whole because it cannot.",
	}, func() float64 {
		if why(context.Background()) != nil {
			return 0
		}
		return 1
	})
}

func counter(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
}

// Answering implements [states.Observer]. A client may call again before Ended has run, so that only here the calls come
// in the client's order.
func (m *metrics) Answering(d *states.Delivery) {
	if d.Call != nil && m.cut.again(d) {
		m.recovers.Store(d, true)
	}
}

// Ended implements [states.Observer].
func (m *metrics) Ended(d *states.Delivery) {
	_, again := m.recovers.LoadAndDelete(d)
	name := m.names.of(tool(d))
	if method := method(d); method != "" {
		m.operations.WithLabelValues(method, "execute_tool", name, failure(d), m.transport).Observe(took(d).Seconds())
	}
	m.requests.WithLabelValues(outcome(d)).Inc()
	what, why := decision(d)
	m.decisions.WithLabelValues(name, what, m.reasons.of(why)).Inc()
	if d.Pruning.Attempted {
		m.pruner.Observe(pruning(d).Seconds())
	}
	if d.Call != nil && d.Wire > 0 && d.Err == nil {
		m.count(name, d, again)
	}
}

// answered counts a request other than a tool call. The server answers only methods that
// it knows, so that their number is bounded.
func (m *metrics) answered(method string, code int, took time.Duration) {
	failure := ""
	if code != 0 {
		failure = strconv.Itoa(code)
	}
	m.operations.WithLabelValues(method, "", "", failure, m.transport).Observe(took.Seconds())
}

// count adds the tokens of an answer that was sent.
func (m *metrics) count(name string, d *states.Delivery, again bool) {
	raw, sent, question := tokens(d)
	recovered := 0
	if again { // without pruning, the model would not have made this call
		raw, recovered = 0, sent
	}
	if m.transport == "" { // taken from words that the model wrote anyway
		question = 0
	}
	m.raw.WithLabelValues(name).Add(float64(raw))
	m.sent.WithLabelValues(name).Add(float64(sent))
	m.question.WithLabelValues(name).Add(float64(question))
	m.recovered.WithLabelValues(name).Add(float64(recovered))
	m.net.WithLabelValues(name).Add(float64(raw - sent - question))
}

// The maximum numbers of names and of pruned outputs that are remembered.
const (
	mostNames = 512
	mostCuts  = 1 << 14
)

// bounded holds the names that have a series of their own. All further names share one series, so that clients cannot
// create any number of them.
type bounded struct {
	mu    sync.Mutex
	known map[string]bool
}

func (b *bounded) of(name string) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	if name == "" || b.known[name] {
		return name
	}
	if len(b.known) == mostNames {
		return "_other"
	}
	if b.known == nil {
		b.known = make(map[string]bool)
	}
	b.known[name] = true
	return name
}

// cut holds the subjects of outputs that were pruned and have not been sent whole since. Another call about the same
// subject was caused by the pruning.
type cut struct {
	mu    sync.Mutex
	known map[about]bool
	order []about // oldest first
}

type about struct{ session, key string }

// again reports whether an answer is about something that was pruned before. If the answer itself was pruned, its
// subject is remembered.
func (c *cut) again(d *states.Delivery) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	is := about{d.Session, d.Key}
	before := c.known[is] || d.Subject.PruneID != ""
	switch {
	case d.Key == "":
	case d.PruneID != "":
		c.add(is)
	case d.Whole() && !d.IsError:
		delete(c.known, is)
	}
	return before
}

func (c *cut) add(is about) {
	if c.known[is] {
		return
	}
	if c.known == nil {
		c.known = make(map[about]bool)
	}
	if len(c.order) == mostCuts {
		delete(c.known, c.order[0])
		c.order = append(c.order[:0], c.order[1:]...)
	}
	c.known[is] = true
	c.order = append(c.order, is)
}
