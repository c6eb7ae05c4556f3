package assemble

import (
	"fmt"
	"os"
	"os/user"

	"mcp-pruner/cmd/internal/settings"
	"mcp-pruner/fsm/event"
	"mcp-pruner/fsm/trace"
	"mcp-pruner/states"
)

// addTrace makes a pipeline record its calls, if the settings ask for it.
func addTrace(p *states.Pipeline, o Options) error {
	c := o.Settings
	if c.Trace == "" {
		return nil
	}
	file, err := trace.Open(c.Trace, TraceOptions(c, o.Transport, o.Emit, o.Sync))
	if err != nil {
		return fmt.Errorf("MCP_PRUNER_TRACE: %w", err)
	}
	p.Observers = append(p.Observers, states.Tracer{Trace: file, Version: o.Version, Detail: c.TraceFull})
	p.Closers = append(p.Closers, file.Close)
	return nil
}

// TraceOptions returns the options of the trace of a process with the given settings. transport is the transport of
// its requests. sync waits until the log has all events emitted so far; nil if emit writes at once. The log has the
// first head before the trace has a line: if the process is killed early, its lines are not those of a stranger.
func TraceOptions(c settings.Settings, transport string, emit func(event.Event), sync func()) trace.Options {
	host, _ := os.Hostname() // "" if the name is unknown
	name := ""
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	return trace.Options{
		MaxBytes: c.TraceMaxBytes, MaxAge: c.TraceMaxAge, Keep: c.TraceKeep,
		Process: trace.Process{PID: os.Getpid(), Run: c.RunID, Host: host, User: name, Root: c.Root, Transport: transport},
		Failed: func(err error) {
			emit(event.New("mcp_pruner.trace_failed", "", event.Facts{"message": err.Error()}))
		},
		Head: func(h trace.Head) {
			emit(event.New("mcp_pruner.trace_head", "", event.Facts{
				"writer": h.Writer, "seq": int64(h.Seq), "link": h.Link, "key": h.Key, "final": h.Final,
			}))
			if h.Seq == 0 && sync != nil {
				sync()
			}
		},
		Removed: func(file string) {
			emit(event.New("mcp_pruner.trace_removed", "", event.Facts{"file": file}))
		},
	}
}
