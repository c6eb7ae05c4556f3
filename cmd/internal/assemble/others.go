package assemble

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/settings"
	"github.com/mcp-pruner/mcp-pruner/fsm"
	"github.com/mcp-pruner/mcp-pruner/fsm/trace"
	"github.com/mcp-pruner/mcp-pruner/states"
	"github.com/mcp-pruner/mcp-pruner/states/existing"
	"github.com/mcp-pruner/mcp-pruner/states/ledger"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
	"github.com/mcp-pruner/mcp-pruner/tools/files"
)

// openProxy opens what a proxy's machine reports to. The ledger itself is opened while it serves, because it may be lost.
func openProxy(o Options) (p Parts, err error) {
	told := openTelemetry(Proxy, o, nil)
	if told.Close != nil {
		p.closers = append(p.closers, func() { _ = told.Close() }) // no one is left to report an error to
	}
	p.Machine = existing.Machine{Emit: o.Emit, Observers: told.Observers}
	if o.Passes {
		return p, nil
	}
	lookup := settings.FromEnv(o.Env)
	place, name, err := LedgerPlace(o.Store, lookup)
	if err != nil {
		return p, err
	}
	p.Ledger = name
	door := o.door(Proxy)
	if p.Trace = openBeside(door, traceBeside(place, name, lookup)); p.Trace != nil {
		p.Machine.Observers = append([]states.Observer{door.Tracer(p.Trace)}, told.Observers...)
		p.closers = append(p.closers, func() { _ = p.Trace.Close() }) // it has reported its errors
	}
	return p, nil
}

// traceBeside returns the file of a proxy's trace if the settings name none: beside the ledger's file, or in the state
// directory of this machine's user. "" if there is neither.
func traceBeside(place Place, name string, lookup settings.Lookup) string {
	folder := filepath.Dir(name)
	if place.Shared() {
		var err error
		if folder, err = files.StateDir(lookup); err != nil {
			return ""
		}
	}
	return filepath.Join(folder, "proxy-trace.jsonl")
}

// openBeside opens the trace that the settings name, or the one beside the ledger. It returns nil if the trace cannot be
// opened, which is reported.
func openBeside(door Door, beside string) *trace.File {
	path := cmp.Or(door.Settings.Trace, beside)
	if path == "" {
		return nil
	}
	if path == beside {
		_ = os.MkdirAll(filepath.Dir(path), 0o700) // else opening fails and says so
	}
	file, err := door.TraceAt(path)
	if err != nil {
		door.Emit(fsm.NewEvent("mcp_pruner.trace_failed", "", fsm.Facts{"message": fmt.Sprintf("%s: %v", path, err)}))
		return nil
	}
	return file
}

// openHook opens what a hook's machine reports to. It works without a trace.
func openHook(o Options) (p Parts, err error) {
	p.Machine = existing.Machine{Emit: o.Emit}
	door := o.door(Hook)
	file, err := door.TraceAt(o.Trace)
	if err != nil {
		return p, err
	}
	p.Machine.Observers = []states.Observer{door.Tracer(file)}
	p.closers = append(p.closers, func() { _ = file.Close() })
	return p, nil
}

// openGC opens a pipeline with the tools of the ledger, for a person who works in the current folder.
func openGC(ctx context.Context, o Options) (p Parts, err error) {
	l, err := OpenLedger(ctx, o.Store, settings.FromEnv(o.Env), func(m string) { o.Failed(errors.New(m)) })
	if err != nil {
		return p, err
	}
	p.closers = append(p.closers, func() { _ = l.Close() }) // nothing is left to write
	folder, _ := os.Getwd()                                 // a folder that was removed belongs to no project
	shown := ledger.Shown(l.Index, l.Name(), folder)
	p.Pipeline = &states.Pipeline{Machine: fsm.MustCompile(fsm.RequestTable()), Tools: contextgc.Toolset{Store: l, Shown: shown}.Tools()}
	if o.Settings.Trace == "" {
		return p, nil
	}
	door := o.door(GC)
	door.Failed = func(err error) { o.Failed(fmt.Errorf("trace: %w", err)) }
	file, err := door.Trace()
	if err != nil {
		return p, err
	}
	p.closers = append(p.closers, func() { _ = file.Close() })
	p.Pipeline.Observers = []states.Observer{door.Tracer(file)}
	return p, nil
}
