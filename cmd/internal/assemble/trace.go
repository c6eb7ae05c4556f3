package assemble

import (
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/assemble/stores"
	"github.com/mcp-pruner/mcp-pruner/states"
)

// addTrace makes a pipeline record its calls, if the settings ask for it.
func addTrace(p *states.Pipeline, o Options) error {
	c := o.Settings
	if c.Trace == "" {
		return nil
	}
	file, err := stores.Door{Settings: c, Transport: o.Transport, Emit: o.Emit, Sync: o.Sync}.Trace()
	if err != nil {
		return err
	}
	stores.CloseProc()
	p.Observers = append(p.Observers, states.Tracer{Trace: file, Version: o.Version, Detail: c.TraceFull})
	p.Closers = append(p.Closers, file.Close)
	return nil
}
