package assemble

import (
	"fmt"

	"mcp-pruner/fsm/event"
	"mcp-pruner/fsm/trace"
	"mcp-pruner/states"
)

// addTrace makes a pipeline record its calls where the settings ask for it.
func addTrace(p *states.Pipeline, o Options) error {
	c := o.Settings
	if c.Trace == "" {
		return nil
	}
	file, err := trace.Open(c.Trace, c.TraceMaxBytes, func(err error) {
		o.Emit(event.New("mcp_pruner.trace_failed", "", event.Facts{"message": err.Error()}))
	})
	if err != nil {
		return fmt.Errorf("MCP_PRUNER_TRACE: %w", err)
	}
	p.Observers = append(p.Observers, states.Tracer{Trace: file, Version: o.Version, Detail: c.TraceFull})
	return nil
}
