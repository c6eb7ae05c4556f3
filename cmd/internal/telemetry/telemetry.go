// Package telemetry shows teams what a server does, as metrics for Prometheus and spans for OpenTelemetry. It
// observes calls. Arguments, results and questions never leave it.
package telemetry

import (
	"errors"
	"time"

	"mcp-pruner/fsm/event"
	"mcp-pruner/states"
)

// Options configures metrics and spans.
type Options struct {
	Metrics   string   // address of GET /metrics; "": not served
	Env       []string // contains OpenTelemetry's variables
	Version   string   // of this program
	Transport string   // transport of the calls: pipe or tcp; "": the calls are not MCP
	Emit      func(event.Event)
}

// endWithin is the time limit for shutting down, because the client waits for it.
const endWithin = time.Second

// Open starts the metrics and spans that the options ask for. It returns their observers and a function that ends
// them; both are nil if the options ask for none. A failure to start is only logged, because an agent's tools must
// work without telemetry.
func Open(o Options) (observers []states.Observer, closing func() error) {
	warn := func(err error) {
		o.Emit(event.New("mcp_pruner.warning", "", event.Facts{"message": "telemetry: " + err.Error()}))
	}
	var ends []func() error
	if o.Metrics != "" {
		if m, end, err := serveMetrics(o); err != nil {
			warn(err)
		} else {
			observers, ends = append(observers, m), append(ends, end)
		}
	}
	if endpoint, err := endpointOf(o.Env); err != nil {
		warn(err)
	} else if endpoint != "" {
		if s, end, err := openSpans(o, endpoint, warn); err != nil {
			warn(err)
		} else {
			observers, ends = append(observers, s), append(ends, end)
		}
	}
	if ends == nil {
		return nil, nil
	}
	return observers, func() error {
		var failed []error
		for _, end := range ends {
			failed = append(failed, end())
		}
		return errors.Join(failed...)
	}
}
