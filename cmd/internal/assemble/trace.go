package assemble

import (
	"fmt"
	"os"
	"os/user"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/settings"
	"github.com/mcp-pruner/mcp-pruner/fsm/event"
	"github.com/mcp-pruner/mcp-pruner/fsm/trace"
	"github.com/mcp-pruner/mcp-pruner/states"
)

// addTrace makes a pipeline record its calls, if the settings ask for it.
func addTrace(p *states.Pipeline, o Options) error {
	c := o.Settings
	if c.Trace == "" {
		return nil
	}
	options, err := TraceOptions(c, o.Transport, o.Emit, o.Sync)
	if err != nil {
		return err
	}
	file, err := trace.Open(c.Trace, options)
	if err != nil {
		return fmt.Errorf("MCP_PRUNER_TRACE: %w", err)
	}
	closeProc()
	p.Observers = append(p.Observers, states.Tracer{Trace: file, Version: o.Version, Detail: c.TraceFull})
	p.Closers = append(p.Closers, file.Close)
	return nil
}

// TraceOptions returns the options of the trace of a process with the given settings. transport is the transport of
// its requests. sync waits until the log has all events emitted so far; nil if emit writes at once. The log has the
// first head before the trace has a line: if the process is killed early, its lines are not those of a stranger. The
// error says that the heads cannot be sent where MCP_PRUNER_TRACE_HEADS names; the options are valid without that place.
func TraceOptions(c settings.Settings, transport string, emit func(event.Event), sync func()) (trace.Options, error) {
	host, _ := os.Hostname() // "" if the name is unknown
	name := ""
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	away, err := openAnchor(c.TraceHeads)
	failed := func(err error) {
		emit(event.New("mcp_pruner.trace_failed", "", event.Facts{"message": err.Error()}))
	}
	return trace.Options{
		MaxBytes: c.TraceMaxBytes, MaxAge: c.TraceMaxAge, Keep: c.TraceKeep,
		Process: trace.Process{PID: os.Getpid(), Run: c.RunID, Host: host, User: name, Root: c.Root, Transport: transport},
		Failed:  failed,
		Head: func(h trace.Head) {
			head := event.New("mcp_pruner.trace_head", "", event.Facts{
				"writer": h.Writer, "seq": int64(h.Seq), "link": h.Link, "key": h.Key, "final": h.Final,
			})
			emit(head)
			if h.Seq == 0 && sync != nil {
				sync()
			}
			if away != nil {
				if err := away.send(head); err != nil {
					failed(err)
				}
			}
		},
		Removed: func(file string) {
			emit(event.New("mcp_pruner.trace_removed", "", event.Facts{"file": file}))
		},
	}, err
}
