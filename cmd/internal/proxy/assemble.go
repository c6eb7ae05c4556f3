package proxy

import (
	"context"
	"net"
	"sync"
	"time"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/assemble"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/hook"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/settings"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/web"
	"github.com/mcp-pruner/mcp-pruner/fsm"
	"github.com/mcp-pruner/mcp-pruner/states/clearing"
	"github.com/mcp-pruner/mcp-pruner/states/ledger"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc/wire"
)

// finishWithin is the time limit for answers in progress when the proxy of a run ends: its client has ended before.
const finishWithin = 3 * time.Second

// serve answers requests until ctx ends. graceful reports whether every answer in progress was finished within a time.
func serve(ctx context.Context, hurry <-chan struct{}, l net.Listener, h *server, within time.Duration) (graceful bool, err error) {
	s := web.NewServer(h)
	s.ConnContext = withPeer
	return web.Serve(ctx, s, l, func() bool {
		h.draining.Store(true)
		return web.ShutDown(s, within, hurry)
	})
}

// assembleProxy creates the proxy's parts. Without a ledger everything passes through: a broken ledger must not stop an
// agent. sync waits until the log has all events emitted so far.
func assembleProxy(ctx context.Context, p command.Process, c settings.Settings, o Options, emit func(fsm.Event), sync func()) (*server, func()) {
	s := newServer(o.Upstream, nil, emit)
	s.routes, s.health.policy, s.health.version = o.Routes, o.Policy, o.Version
	s.note.path, s.note.emit = o.Note, emit
	parts, err := assemble.Make(ctx, assemble.Proxy, assemble.Options{
		Settings: c, Env: p.Env, Version: o.Version, Emit: emit, Sync: sync, Store: o.Store, Passes: o.Policy == Off,
	})
	if err != nil {
		s.health.failed(nil, err)
	}
	if err != nil || o.Policy == Off {
		return s, parts.Close
	}
	s.health.ledger = parts.Ledger
	s.runs = clearing.NewRuns(emit, parts.Trace, o.Version, time.Now)
	s.health.open = func(ctx context.Context) (*work, error) {
		return s.openWork(ctx, p, c, o.Store, &clearing.Engine{
			Machine: parts.Machine, Runs: s.runs, Back: wayBackOf(p), Policy: contextgc.DefaultPolicy(),
			Clears: o.Policy != Prune, Prunes: o.Policy != GC, Others: c.OtherTools, Now: time.Now, SyncLog: sync,
		})
	}
	s.reopen(ctx)
	return s, func() {
		s.feeding.Wait()
		if w := s.work.Load(); w != nil {
			if err := w.close(); err != nil {
				s.health.failed(w, err)
			}
		}
		s.runs.Close()
		parts.Close()
	}
}

// openWork opens the ledger for an engine.
func (s *server) openWork(ctx context.Context, p command.Process, c settings.Settings, given string, e *clearing.Engine) (*work, error) {
	store, err := assemble.OpenLedger(ctx, given, p.Lookup, assemble.LedgerFailed(s.emit))
	if err != nil {
		return nil, err
	}
	w := &work{engine: e}
	failed := func(err error) { s.health.failed(w, err) }
	e.Store, e.Index, e.Report, e.Printed = store, store.Index, failed, ledger.Printed(p.Lookup)
	if err := e.Load(ctx); err != nil {
		failed(err)
	}
	book := ledger.New(store, failed)
	stopCleaning := ledger.KeepClean(store, store.Files, assemble.LedgerLimits(c), func(err error) {
		if !store.Lost() { // that is reported once
			assemble.LedgerFailed(s.emit)(err.Error())
		}
	})
	w.usage, w.original = book.AddUsage, store.Original
	all := assemble.KeepsAll(store, c)
	w.feed = func(c *wire.Conversation, client string) {
		if !all {
			return
		}
		for _, r := range c.Last().Results {
			if r.HasText() {
				book.Add(clearing.Entry(c, r, client))
			}
		}
	}
	w.close = sync.OnceValue(func() error {
		stopCleaning()
		book.Close(2 * time.Second)
		return store.Close()
	})
	return w, nil
}

// wayBackOf returns the command that recovers a text for the client with a User-Agent.
func wayBackOf(p command.Process) func(agent string) string {
	return func(userAgent string) string { return hook.BackCommand(agent.Calling(userAgent).Name, p.Lookup) }
}
