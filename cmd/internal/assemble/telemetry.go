package assemble

import (
	"time"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/telemetry"
	"github.com/mcp-pruner/mcp-pruner/states"
)

// addTelemetry makes a pipeline count its calls and send spans, if the settings and the environment ask for it. It
// returns the function to tell of all other requests.
func addTelemetry(p *states.Pipeline, o Options) (answered func(method string, code int, took time.Duration)) {
	t := telemetry.Open(telemetry.Options{
		Metrics: o.Settings.Metrics, Token: o.Settings.MetricsToken, Env: o.Env, Version: o.Version, Transport: networks[o.Transport], Emit: o.Emit,
	})
	p.Observers = append(p.Observers, t.Observers...)
	if t.Close != nil {
		p.Closers = append(p.Closers, t.Close)
	}
	return t.Answered
}

// networks maps the transports to OpenTelemetry's names for them.
var networks = map[string]string{"stdio": "pipe", "http": "tcp"}
