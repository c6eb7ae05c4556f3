// Package assemble makes what each form of the program works with from its settings, and opens what outlives a process: its
// trace, the ledger, the originals and the keys. Every door opens them here.
package assemble

import (
	"context"
	"slices"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/mcp/mcpserver"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/settings"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/web"
	"github.com/mcp-pruner/mcp-pruner/fsm"
	"github.com/mcp-pruner/mcp-pruner/fsm/trace"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/service"
	"github.com/mcp-pruner/mcp-pruner/states"
	"github.com/mcp-pruner/mcp-pruner/states/existing"
	"github.com/mcp-pruner/mcp-pruner/states/store"
)

// Form is a form in which the program runs.
type Form string

// The forms.
const (
	Stdio  Form = "stdio"  // serves tools to one client
	HTTP   Form = "http"   // serves tools to any number of clients
	Pruner Form = "pruner" // serves the line pruner
	Proxy  Form = "proxy"  // replaces results in requests to a model's API
	Hook   Form = "hook"   // replaces the result of a client's own tool
	GC     Form = "gc"     // calls the ledger's tools from the command line
)

// Options describes a program.
type Options struct {
	Settings settings.Settings
	Env      []string // of the process; commands get it without the withheld variables
	Version  string
	Emit     func(fsm.Event)
	Sync     func()      // waits, for a bounded time, until the log has all events emitted so far; nil: Emit writes at once
	Failed   func(error) // gets what fails in trace and ledger; nil: the event log does

	Program string                                // of HTTP and Pruner: its name in the scopes of keys
	Offer   func(func(fsm.Event)) (*Offer, error) // of Stdio and HTTP: opens the tools that are offered instead of our own; nil: there are none
	Store   string                                // of Proxy and GC: the option --store
	Trace   string                                // of Hook: the file of its trace
	Passes  bool                                  // of Proxy: it changes nothing, and records nothing
}

// Parts are what a form works with. What it does not need is nil.
type Parts struct {
	Server   *mcpserver.Server // of Stdio, HTTP and Pruner
	Lines    *service.Service  // of Pruner: what its tools use
	Gate     *web.Gate         // of HTTP and Pruner: admits the callers; nil: they need no credential
	Replicas *store.DB         // of HTTP and Pruner: the database in which the processes of a team reach each other; nil: there is none

	Machine  existing.Machine // of Proxy and Hook: for results that exist already
	Trace    *trace.File      // of Proxy: has its runs, too; nil: there is none
	Ledger   string           // of Proxy: the name of its ledger
	Pipeline *states.Pipeline // of GC

	closers []func()
}

// Make opens the parts of a form. A proxy and a hook can be used after an error: they have the parts that could be opened. Of the other
// forms none is open then.
func Make(ctx context.Context, form Form, o Options) (parts Parts, err error) {
	switch form {
	case Proxy:
		return openProxy(o)
	case Hook:
		return openHook(o)
	case GC:
		parts, err = openGC(ctx, o)
	default:
		parts, err = openServer(ctx, form, o)
	}
	if err != nil {
		parts.Close()
		return Parts{}, err
	}
	return parts, nil
}

// Close closes the parts, the last that was opened first. A server has closed those of its pipeline when it ended.
func (p Parts) Close() {
	for _, c := range slices.Backward(p.closers) {
		c()
	}
}
