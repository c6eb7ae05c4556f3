package telemetry

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/semconv/v1.41.0/mcpconv"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/telemetry/telemetrytest"
	"github.com/mcp-pruner/mcp-pruner/states"
	"github.com/mcp-pruner/mcp-pruner/tools"
	"github.com/mcp-pruner/mcp-pruner/tools/tooltest"
)

// asProm returns an OpenTelemetry name as Prometheus has it.
func asProm(name string) string { return strings.ReplaceAll(name, ".", "_") }

// Version 1.41 of the conventions is the last one in this module; those for MCP are the same in their new repository.
func TestOperationsFollowTheConventions(t *testing.T) {
	var logs eventLog
	p, end := pipeline(t, Options{Metrics: "127.0.0.1:0", Transport: "pipe", Emit: logs.emit})
	defer end()
	call(p, nil, map[string]any{"text": "x"}, "")
	var operations mcpconv.ServerOperationDuration
	require.Equal(t, "s", operations.Unit())
	families := telemetrytest.Scrape(t, logs.first("mcp_pruner.metrics_ready")["url"].(string))
	series := families[asProm(operations.Name())+"_seconds"].GetMetric()
	require.Len(t, series, 1)
	labels := make(map[string]string)
	for _, l := range series[0].GetLabel() {
		labels[l.GetName()] = l.GetValue()
	}
	want := map[string]string{"mcp_method_name": string(mcpconv.MethodNameToolsCall)}
	for _, a := range []struct{ Key, Value string }{
		{string(operations.AttrGenAIToolName("").Key), "echo"},
		{string(operations.AttrGenAIOperationName("").Key), string(mcpconv.GenAIOperationNameExecuteTool)},
		{string(operations.AttrNetworkTransport("").Key), string(mcpconv.NetworkTransportPipe)},
		{string(operations.AttrErrorType("").Key), ""},
	} {
		want[asProm(a.Key)] = a.Value
	}
	assert.Equal(t, want, labels)
	var bounds []float64
	for _, b := range series[0].GetHistogram().GetBucket() {
		bounds = append(bounds, b.GetUpperBound())
	}
	assert.Equal(t, []float64{0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300}, bounds[:14])
}

// However many tools another server or a client names, the number of series is bounded, and so is their length.
func TestManyToolsShareASeries(t *testing.T) {
	var logs eventLog
	p, end := pipeline(t, Options{Metrics: "127.0.0.1:0", Transport: "tcp", Emit: logs.emit})
	defer end()
	run := tooltest.Func(func(context.Context) (tools.Output, error) { return tooltest.Output("x"), nil })
	ask := func(name string) {
		c := p.Run(t.Context(), states.Request{Params: map[string]any{"name": name, "arguments": map[string]any{}}})
		c.Answer()
		c.Answering(9)
		c.Written(t.Context())
	}
	p.Tools = []tools.Tool{tooltest.Tool(strings.Repeat("x", 1<<20), run)}
	for n := range mostNames + 50 {
		p.Tools = append(p.Tools, tooltest.Tool(fmt.Sprintf("tool%d", n), run))
	}
	for _, tool := range p.Tools {
		ask(tool.Name)
	}
	for n := range 50 {
		ask(fmt.Sprintf("no_such_tool%d", n))
	}
	got := telemetrytest.Scrape(t, logs.first("mcp_pruner.metrics_ready")["url"].(string))
	for name, label := range map[string]string{"mcp_server_operation_duration_seconds": "gen_ai_tool_name", "mcp_pruner_decisions_total": "tool"} {
		assert.Len(t, got[name].GetMetric(), mostNames+2, name)
		assert.InDelta(t, 1, got.Sum(name, map[string]string{label: strings.Repeat("x", 128)}), 0, name)
		assert.InDelta(t, 51, got.Sum(name, map[string]string{label: "_other"}), 0, name)
		assert.InDelta(t, 50, got.Sum(name, map[string]string{label: ""}), 0, name)
	}
}

// A client reads an answer and calls again before the server has noted that the answer was written.
func TestACallOvertakesTheEndOfTheOneBefore(t *testing.T) {
	var logs eventLog
	p, end := pipeline(t, Options{Metrics: "127.0.0.1:0", Transport: "tcp", Emit: logs.emit})
	defer end()
	session, text := new(states.Session), strings.Repeat("a long text of several words ", 50)
	answer := func(args map[string]any) *states.Execution {
		c := p.Run(t.Context(), states.Request{Params: map[string]any{"name": "echo", "arguments": args}, Session: session})
		c.Answer()
		c.Answering(9)
		return c
	}
	pruned := answer(map[string]any{"text": text, "question": "which?"})
	again := answer(map[string]any{"text": text})
	again.Written(t.Context())
	pruned.Written(t.Context())
	got := telemetrytest.Scrape(t, logs.first("mcp_pruner.metrics_ready")["url"].(string))
	assert.Greater(t, got.Sum("mcp_pruner_recovered_tokens_total", nil), 100.0)
}

// A scrape waits for no call, and calls for no scrape.
func TestScrapesWhileCallsRun(t *testing.T) {
	var logs eventLog
	p, end := pipeline(t, Options{Metrics: "127.0.0.1:0", Transport: "tcp", Emit: logs.emit})
	defer end()
	const calls = 64
	running, goOn := make(chan struct{}, calls), make(chan struct{})
	p.Tools = []tools.Tool{tooltest.Tool("echo", func(context.Context) (tools.Output, error) {
		running <- struct{}{}
		<-goOn
		return tooltest.Output("x"), nil
	})}
	var all sync.WaitGroup
	for range calls {
		all.Go(func() { call(p, new(states.Session), map[string]any{}, "") })
	}
	for range calls {
		<-running
	}
	url := logs.first("mcp_pruner.metrics_ready")["url"].(string)
	count := func() float64 { return telemetrytest.Scrape(t, url).Sum("mcp_pruner_requests_total", nil) }
	assert.Zero(t, count())
	close(goOn)
	for range 8 {
		all.Go(func() { count() })
	}
	all.Wait()
	assert.InDelta(t, calls, count(), 0)
}
