package assemble

import (
	"mcp-pruner/cmd/internal/telemetry"
	"mcp-pruner/states"
)

// addTelemetry makes a pipeline count its calls and send spans, if the settings and the environment ask for it.
func addTelemetry(p *states.Pipeline, o Options) {
	observers, closing := telemetry.Open(telemetry.Options{
		Metrics: o.Settings.Metrics, Env: o.Env, Version: o.Version, Transport: networks[o.Transport], Emit: o.Emit,
	})
	p.Observers = append(p.Observers, observers...)
	if closing != nil {
		p.Closers = append(p.Closers, closing)
	}
}

// networks maps the transports to OpenTelemetry's names for them.
var networks = map[string]string{"stdio": "pipe", "http": "tcp"}
