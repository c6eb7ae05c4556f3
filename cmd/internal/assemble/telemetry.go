package assemble

import (
	"mcp-pruner/cmd/internal/telemetry"
	"mcp-pruner/states"
)

// addTelemetry makes a pipeline count its calls and send spans, where the settings and
// the environment ask for it.
func addTelemetry(p *states.Pipeline, o Options) {
	observers, closing := telemetry.Open(telemetry.Options{
		Metrics: o.Settings.Metrics, Env: o.Env, Version: o.Version, Transport: networks[o.Transport], Emit: o.Emit,
	})
	p.Observers = append(p.Observers, observers...)
	if closing != nil {
		p.Closers = append(p.Closers, closing)
	}
}

// networks are the transports by the names that OpenTelemetry has for them.
var networks = map[string]string{"stdio": "pipe", "http": "tcp"}
