package assemble

import (
	"time"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/telemetry"
	"github.com/mcp-pruner/mcp-pruner/states"
	"github.com/mcp-pruner/mcp-pruner/states/store"
)

// addTelemetry makes a pipeline count its calls and send spans, if the settings and the environment ask for it. It
// returns the function to tell of all other requests.
func addTelemetry(p *states.Pipeline, o Options) (answered func(method string, code int, took time.Duration)) {
	options := telemetry.Options{
		Metrics: o.Settings.Metrics, Token: o.Settings.MetricsToken, Env: o.Env, Version: o.Version, Transport: networks[o.Transport], Emit: o.Emit,
	}
	if place, err := recoveryPlace(o.Settings); err == nil && place.Shared() {
		if db, err := store.Open(place.Database); err == nil { // opened with the originals before
			options.Database, p.Closers = db.Usable, append(p.Closers, db.Close)
		}
	}
	t := telemetry.Open(options)
	p.Observers = append(p.Observers, t.Observers...)
	if t.Close != nil {
		p.Closers = append(p.Closers, t.Close)
	}
	return t.Answered
}

// networks maps the transports to OpenTelemetry's names for them.
var networks = map[string]string{"stdio": "pipe", "http": "tcp"}
