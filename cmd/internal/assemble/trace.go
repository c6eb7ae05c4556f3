package assemble

import (
	"fmt"

	"mcp-pruner/fsm"
	"mcp-pruner/states"
)

// trace is a trace file whose records are those of one version of the program.
type trace struct {
	*fsm.TraceFile
	version string
}

// Append implements states.Trace.
func (t trace) Append(r *fsm.Record) {
	r.Server = t.version
	t.TraceFile.Append(r)
}

// addTrace makes a pipeline record its calls where the settings ask for it.
func addTrace(p *states.Pipeline, o Options) error {
	c := o.Settings
	if c.Trace == "" {
		return nil
	}
	file, err := fsm.OpenTrace(c.Trace, c.TraceMaxBytes, func(err error) {
		o.Emit(fsm.NewEvent("mcp_pruner.trace_failed", "", fsm.Facts{"message": err.Error()}))
	})
	if err != nil {
		return fmt.Errorf("MCP_PRUNER_TRACE: %w", err)
	}
	p.Observers = append(p.Observers, states.Tracer{Trace: trace{file, o.Version}, Detail: c.TraceFull})
	return nil
}
