package assemble

import (
	"github.com/mcp-pruner/mcp-pruner/states"
)

// addTrace makes a pipeline record its calls, if the settings ask for it.
func addTrace(p *states.Pipeline, o Options) error {
	if o.Settings.Trace == "" {
		return nil
	}
	door := Door{Settings: o.Settings, Version: o.Version, Transport: o.Transport, Emit: o.Emit, Sync: o.Sync}
	file, err := door.Trace()
	if err != nil {
		return err
	}
	closeProc()
	p.Observers = append(p.Observers, door.Tracer(file))
	p.Closers = append(p.Closers, file.Close)
	return nil
}
