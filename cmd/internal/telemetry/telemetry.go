// Package telemetry shows teams what a server does, as metrics for Prometheus and spans for OpenTelemetry. It
// observes calls. Arguments, results and questions never leave it.
package telemetry

import (
	"context"
	"errors"
	"time"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/settings"
	"github.com/mcp-pruner/mcp-pruner/fsm"
	"github.com/mcp-pruner/mcp-pruner/states"
)

// Options configures metrics and spans.
type Options struct {
	Metrics   string   // address of GET /metrics; "": not served
	Token     string   // file with the token that it asks for; "": it asks for none
	Env       []string // contains OpenTelemetry's variables
	Version   string   // of this program
	Transport string   // transport of the calls: pipe or tcp; "": the calls are not MCP
	Emit      func(fsm.Event)

	Database func(context.Context) error // why what outlives the process cannot be used; nil: it is not in a database
}

// endWithin is the time limit for shutting down, because the client waits for it.
const endWithin = time.Second

// Telemetry holds what the options ask for. Its fields are nil if they ask for nothing.
type Telemetry struct {
	Observers []states.Observer // of tool calls
	Close     func() error

	// Answered is told of all other requests: the JSON-RPC error code, 0 for a result, and the duration.
	Answered func(method string, code int, took time.Duration)
}

// Open starts the metrics and spans that the options ask for. A failure to start is only logged, because an agent's
// tools must work without telemetry.
func Open(o Options) (t Telemetry) {
	warn := func(err error) {
		o.Emit(fsm.NewEvent("mcp_pruner.warning", "", fsm.Facts{"message": "telemetry: " + err.Error()}))
	}
	var ends []func() error
	if o.Metrics != "" {
		if m, end, err := serveMetrics(o); err != nil {
			warn(err)
		} else {
			t.Observers, t.Answered, ends = append(t.Observers, m), m.answered, append(ends, end)
		}
	}
	env := settings.FromEnv(o.Env)
	if endpoint, err := endpointOf(env); err != nil {
		warn(err)
	} else if endpoint != "" {
		if s, end, err := openSpans(o, env, endpoint, warn); err != nil {
			warn(err)
		} else {
			t.Observers, ends = append(t.Observers, s), append(ends, end)
		}
	}
	if ends == nil {
		return t
	}
	t.Close = func() error {
		var failed []error
		for _, end := range ends {
			failed = append(failed, end())
		}
		return errors.Join(failed...)
	}
	return t
}
