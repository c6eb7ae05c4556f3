// Package telemetry tells teams what a server does: numbers for Prometheus and spans
// for OpenTelemetry. It observes calls; never arguments, results or questions leave it.
package telemetry

import (
	"errors"
	"time"

	"mcp-pruner/fsm/event"
	"mcp-pruner/states"
)

// Options says what is told to whom.
type Options struct {
	Metrics   string   // address that GET /metrics is served at; "" for none
	Env       []string // has the variables of OpenTelemetry
	Version   string   // of this program
	Transport string   // pipe or tcp, by which calls come; "": they are not MCP's
	Emit      func(event.Event)
}

// endWithin is how long the end may take: the client waits for it.
const endWithin = time.Second

// Open starts what the options ask for, and returns the observers to tell and what ends
// them. Both are nil where nothing is asked for. What cannot be started is logged: no
// agent goes without its tools because of it.
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
