package assemble

import (
	"errors"
	"fmt"
	"os"
	"os/user"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/settings"
	"github.com/mcp-pruner/mcp-pruner/fsm"
	"github.com/mcp-pruner/mcp-pruner/fsm/trace"
	"github.com/mcp-pruner/mcp-pruner/states"
	"github.com/mcp-pruner/mcp-pruner/states/store"
)

// Door is a process that keeps a trace.
type Door struct {
	Settings  settings.Settings
	Version   string          // of the program, in each record
	Transport string          // of its requests
	Emit      func(fsm.Event) // the event log, which gets the heads of the trace
	Sync      func()          // waits until the log has all events emitted so far; nil: Emit writes at once
	Failed    func(error)     // gets what fails later; nil: the event log does
}

// Trace opens the trace that MCP_PRUNER_TRACE names. It fails if the heads cannot be sent where MCP_PRUNER_TRACE_HEADS
// names.
func (d Door) Trace() (*trace.File, error) {
	away, err := openAnchor(d.Settings.TraceHeads)
	if err != nil {
		return nil, err
	}
	file, err := d.open(d.Settings.Trace, away)
	if err != nil {
		return nil, fmt.Errorf("MCP_PRUNER_TRACE: %w", err)
	}
	return file, nil
}

// TraceAt opens a trace that the door keeps whatever MCP_PRUNER_TRACE says. That its heads cannot be sent is reported.
func (d Door) TraceAt(path string) (*trace.File, error) {
	away, err := openAnchor(d.Settings.TraceHeads)
	if err != nil {
		d.failed(err)
	}
	return d.open(path, away)
}

// Tracer returns the observer that records calls in a file which the door has opened, with the texts of these calls only
// if the settings ask for them.
func (d Door) Tracer(file *trace.File) states.Tracer {
	return states.Tracer{Trace: file, Version: d.Version, Detail: d.Settings.TraceFull}
}

func (d Door) failed(err error) {
	if d.Failed != nil {
		d.Failed(err)
		return
	}
	d.Emit(fsm.NewEvent("mcp_pruner.trace_failed", "", fsm.Facts{"message": err.Error()}))
}

// open opens a trace whose heads go into the log, and away if that is not nil.
func (d Door) open(path string, away *anchor) (*trace.File, error) {
	heads := trace.AllHeads{headLog{d.Emit, d.Sync}}
	if away != nil {
		heads = append(heads, away)
	}
	c := d.Settings
	o := trace.Options{
		MaxBytes: c.TraceMaxBytes, MaxAge: c.TraceMaxAge, Keep: c.TraceKeep, Process: d.process(), Failed: d.failed, Heads: heads,
		Removed: func(file string) {
			d.Emit(fsm.NewEvent("mcp_pruner.trace_removed", "", fsm.Facts{"file": file}))
		},
	}
	db, err := openReplicas(c)
	if err != nil {
		return nil, err
	}
	if db != nil {
		o.Copy = store.TracesIn(db)
	}
	file, err := trace.Open(path, o)
	if err != nil && db != nil {
		err = errors.Join(err, db.Close())
	}
	return file, err
}

// headLog keeps heads in the event log. The log has the first head before the trace has a line: if the process is killed
// early, its lines are not those of a stranger.
type headLog struct {
	emit func(fsm.Event)
	sync func() // see Door
}

// Keep implements [trace.Heads].
func (l headLog) Keep(h trace.Head) error {
	l.emit(h.Event())
	if h.Seq == 0 && l.sync != nil {
		l.sync()
	}
	return nil
}

// process describes this process, for the first line that it writes.
func (d Door) process() trace.Process {
	p := trace.Process{PID: os.Getpid(), Run: d.Settings.RunID, Root: d.Settings.Root, Transport: d.Transport}
	p.Host, _ = os.Hostname() // "" if the name is unknown
	if u, err := user.Current(); err == nil {
		p.User = u.Username
	}
	return p
}
