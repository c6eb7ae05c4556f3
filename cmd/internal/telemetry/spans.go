package telemetry

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/settings"
	"github.com/mcp-pruner/mcp-pruner/states"
)

// endpointOf returns the URL for spans that OpenTelemetry's variables name, or "" if they name none.
func endpointOf(get settings.Lookup) (string, error) {
	value := func(name string) string { v, _ := get(name); return v }
	traces, base := value("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"), value("OTEL_EXPORTER_OTLP_ENDPOINT")
	if traces == "" && base != "" {
		traces = strings.TrimSuffix(base, "/") + "/v1/traces"
	}
	switch {
	case traces == "", strings.EqualFold(value("OTEL_SDK_DISABLED"), "true"), value("OTEL_TRACES_EXPORTER") == "none":
		return "", nil
	}
	if protocol := cmp.Or(value("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"), value("OTEL_EXPORTER_OTLP_PROTOCOL")); protocol != "" && protocol != "http/protobuf" {
		return "", fmt.Errorf("OTLP over %q is not supported: set OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf and the collector's HTTP port, "+
			"4318 by default; no spans are sent", protocol)
	}
	if u, err := url.Parse(traces); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return "", errors.New("OTEL_EXPORTER_OTLP_ENDPOINT or OTEL_EXPORTER_OTLP_TRACES_ENDPOINT is no http or https URL; no spans are sent")
	}
	return traces, nil
}

// headersOf returns the headers that the collector requires.
func headersOf(get settings.Lookup) (http.Header, error) {
	traces, _ := get("OTEL_EXPORTER_OTLP_TRACES_HEADERS")
	headers, _ := get("OTEL_EXPORTER_OTLP_HEADERS")
	return parseHeaders(cmp.Or(traces, headers))
}

// spans is an observer that creates a span for every call.
type spans struct {
	tracer    trace.Tracer
	transport string
}

// openSpans starts to send spans.
func openSpans(o Options, get settings.Lookup, endpoint string, warn func(error)) (*spans, func() error, error) {
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) {
		if !errors.Is(err, resource.ErrPartialResource) { // reported below, without the text
			warn(err)
		}
	}))
	header, err := headersOf(get)
	if err != nil {
		warn(err)
	}
	ctx := context.Background()
	exporter, err := otlptrace.New(ctx, newClient(endpoint, header, warn))
	if err != nil {
		return nil, nil, err
	}
	is, err := resource.New(ctx, resource.WithTelemetrySDK(), resource.WithAttributes(
		attribute.String("service.name", "mcp-pruner"), attribute.String("service.version", o.Version)), resource.WithFromEnv())
	if errors.Is(err, resource.ErrPartialResource) {
		warn(errors.New("OTEL_RESOURCE_ATTRIBUTES: entries that are not name=value are left out"))
	} else if err != nil {
		return nil, nil, err
	}
	provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter), sdktrace.WithResource(is))
	end := func() error {
		ctx, cancel := context.WithTimeout(context.Background(), endWithin)
		defer cancel()
		err := provider.Shutdown(ctx)
		if err != nil {
			warn(fmt.Errorf("the last spans are lost: the collector did not take them within %v", endWithin))
		}
		return err
	}
	return &spans{provider.Tracer("mcp-pruner"), o.Transport}, end, nil
}

// Answering implements [states.Observer].
func (s *spans) Answering(*states.Delivery) {}

// Ended implements [states.Observer].
func (s *spans) Ended(d *states.Delivery) {
	parent := propagation.TraceContext{}.Extract(context.Background(), propagation.MapCarrier{"traceparent": d.Parent})
	started := d.Machine.Started()
	_, span := s.tracer.Start(parent, spanName(d, s.transport), trace.WithTimestamp(started),
		trace.WithSpanKind(trace.SpanKindServer), trace.WithAttributes(s.attributes(d)...))
	for _, step := range d.Machine.Steps() {
		span.AddEvent(string(step.Trigger), trace.WithTimestamp(started.Add(step.At)), trace.WithAttributes(
			attribute.String("mcp_pruner.from", string(step.From)), attribute.String("mcp_pruner.to", string(step.To)),
			attribute.String("mcp_pruner.row", step.Spec)))
	}
	if why := failure(d); why != "" {
		span.SetStatus(codes.Error, why)
	}
	span.End(trace.WithTimestamp(started.Add(took(d))))
}

// spanName returns the method and the tool, following OpenTelemetry's conventions for MCP.
func spanName(d *states.Delivery, transport string) string {
	what := method(d)
	switch {
	case what == "":
		return "invalid message"
	case transport == "":
		what = "replace"
	}
	if name := tool(d); name != "" {
		return what + " " + name
	}
	return what
}

// attributes returns the outcome of a call, and nothing about its content.
func (s *spans) attributes(d *states.Delivery) []attribute.KeyValue {
	what, why := decision(d)
	list := []attribute.KeyValue{
		attribute.String("mcp_pruner.request_id", d.Machine.ID()), attribute.String("mcp_pruner.outcome", outcome(d)),
		attribute.String("mcp_pruner.decision", what), attribute.String("mcp_pruner.reason", why),
	}
	for name, value := range map[string]string{
		"network.transport": s.transport, "gen_ai.tool.name": tool(d), "error.type": failure(d), "mcp_pruner.client": d.Client,
	} {
		if value != "" {
			list = append(list, attribute.String(name, value))
		}
	}
	if s.transport != "" && method(d) != "" {
		list = append(list, attribute.String("mcp.method.name", method(d)), attribute.String("gen_ai.operation.name", "execute_tool"))
	}
	if d.Wire > 0 {
		raw, sent, question := tokens(d)
		list = append(list, attribute.Int("mcp_pruner.tokens.raw", raw), attribute.Int("mcp_pruner.tokens.sent", sent),
			attribute.Int("mcp_pruner.tokens.question", question), attribute.Int("mcp_pruner.bytes.wire", d.Wire))
	}
	return list
}
