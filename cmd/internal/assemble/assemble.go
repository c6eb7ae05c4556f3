// Package assemble builds a server from its settings, for any transport, and opens what outlives a process: its trace,
// the ledger, the originals and the keys. Every door opens them here.
package assemble

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/mcp/mcpserver"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/settings"
	"github.com/mcp-pruner/mcp-pruner/fsm"
	"github.com/mcp-pruner/mcp-pruner/pruneclient"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/recovery"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/service"
	"github.com/mcp-pruner/mcp-pruner/states"
	"github.com/mcp-pruner/mcp-pruner/states/store"
	"github.com/mcp-pruner/mcp-pruner/tools"
)

// Options describes a server.
type Options struct {
	Settings settings.Settings
	Env      []string // of the process; commands get it without the withheld variables
	Version  string
	Emit     func(fsm.Event)
	Sync     func() // waits, for a bounded time, until the log has all events emitted so far; nil: Emit writes at once

	Transport string // stdio or http, in records and telemetry

	// List returns the tools offered to a client; nil: the tools of the toolsets.
	List     func(client string) []tools.Tool
	Recovers bool                       // recover_text is offered in addition to List
	Instruct func(client string) string // instructions that go with List
	Features *mcpserver.Features        // what goes with List; nil: nothing

	Notified func(client *mcpserver.Caller, method string, params json.RawMessage) (told bool) // see mcpserver.Config

	Table         fsm.Table // of its requests
	Aliases       bool      // accepts the argument names of the HTTP document too
	MaxPruneBytes int       // larger output is not pruned, if the table has a row for that
	FieldErrors   bool      // errors with code -32602 also list the wrong fields in the form of the HTTP document
	MaxEach       int       // concurrent tool calls of one session; 0: no limit of its own
}

// Server makes the server.
func Server(o Options) (*mcpserver.Server, error) {
	store, err := openStore(o)
	if err != nil {
		return nil, err
	}
	offered, err := toolsOf(o, store)
	if err != nil {
		return nil, err
	}
	pruner, err := prunerOf(o.Settings)
	if err != nil {
		return nil, err
	}
	machine, err := fsm.Compile(o.Table)
	if err != nil {
		return nil, err
	}
	pipeline := &states.Pipeline{
		Machine: machine, Tools: offered, Pruner: pruner, Keep: store.PutShort,
		RepeatRaw: o.Settings.RepeatRaw, MaxPruneBytes: o.MaxPruneBytes, FieldErrors: o.FieldErrors, Emit: o.Emit, SyncLog: o.Sync,
		Closers: []func() error{store.Close}, Printed: printed(o),
	}
	if place, err := recoveryPlace(o.Settings); err == nil && place.Shared() {
		pipeline.KeepBeside = store.PutBeside
	}
	if err := addTrace(pipeline, o); err != nil {
		return nil, err
	}
	if err := addLedger(pipeline, o); err != nil {
		return nil, err
	}
	answered := addTelemetry(pipeline, o)
	return mcpserver.New(mcpserver.Config{
		Pipeline: pipeline, List: listOf(o, store), Version: o.Version, Result: o.Settings.Result,
		AlwaysLoad: o.Settings.AlwaysLoad, MaxCalls: o.Settings.MaxCalls, MaxEach: o.MaxEach,
		InvalidParams: o.Settings.InvalidParams, Instructions: instructions(o),
		Instruct: o.Instruct, Notified: o.Notified, Features: o.Features, Answered: answered,
	}), nil
}

// warn returns a function that writes a message for the operator into the event log.
func warn(o Options) func(message string) {
	return func(m string) { o.Emit(fsm.NewEvent("mcp_pruner.warning", "", fsm.Facts{"message": m})) }
}

// openStore opens the store of originals.
func openStore(o Options) (*recovery.Store, error) {
	limits := recovery.Settings{
		TTL: o.Settings.RecoveryTTL, MaxBytes: o.Settings.RecoveryMaxBytes,
		Report: warn(o),
	}
	place, err := recoveryPlace(o.Settings)
	switch {
	case err != nil:
		return nil, err
	case place.Shared():
		db, err := OpenDatabase(place, limits.Report)
		if err != nil {
			return nil, err
		}
		return store.OriginalsIn(db, limits)
	case place.File == "":
		return recovery.Open(limits)
	}
	store, err := store.OpenOriginals(place.File, limits)
	if err != nil {
		name := settings.Store
		if o.Settings.RecoveryStore != "" {
			name = "MCP_PRUNER_RECOVERY_STORE"
		}
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return store, nil
}

// instructions returns the instructions for the core tools, if those are offered.
func instructions(o Options) string {
	if o.List == nil && slices.Contains(o.Settings.Toolsets, "core") {
		return tools.Instructions
	}
	return ""
}

// listOf returns the tool list of a client, with our recover_text added. No other tool of that name is listed: a model
// would ask it for texts that only we have. It returns nil if the tools of the toolsets are offered.
func listOf(o Options, store *recovery.Store) func(client string) []tools.Tool {
	if o.List == nil || !o.Recovers {
		return o.List
	}
	back := mcpserver.RecoverTool(service.New(service.Settings{Store: store, Version: o.Version}))
	return func(client string) []tools.Tool {
		list := slices.DeleteFunc(slices.Clone(o.List(client)), func(t tools.Tool) bool { return t.Name == back[0].Name })
		return append(list, back...)
	}
}

// toolsOf returns the tools of the enabled toolsets.
func toolsOf(o Options, store *recovery.Store) ([]tools.Tool, error) {
	var offered []tools.Tool
	if slices.Contains(o.Settings.Toolsets, "core") {
		core, err := tools.New(tools.Settings{
			Root: o.Settings.Root, PassEnv: o.Settings.PassEnv, Narrow: o.Settings.Tools,
			NonzeroExitAsOutput: nonzeroAsOutput(o.Settings), Aliases: o.Aliases,
			BashTimeout:    int(o.Settings.BashTimeout.Milliseconds()),
			BashMaxTimeout: int(o.Settings.BashMaxTimeout.Milliseconds()),
			Original:       original(o, store),
			Env:            func() []string { return o.Env },
		})
		if err != nil {
			return nil, err
		}
		offered = core
	}
	if slices.Contains(o.Settings.Toolsets, "text") {
		offered = append(offered, mcpserver.TextTools(service.New(service.Settings{Store: store, Version: o.Version}))...)
	}
	return offered, nil
}

// nonzeroAsOutput reports whether a failed command is a result instead of an error. The default is true with the
// embedded pruner.
func nonzeroAsOutput(c settings.Settings) bool {
	return c.NonzeroExit == "output" || c.NonzeroExit == "auto" && c.PrunerURL == settings.Embedded
}

// original finds the stored text of a pruned or cut output.
func original(o Options, store *recovery.Store) func(context.Context, string) (string, bool, error) {
	return func(ctx context.Context, id string) (string, bool, error) {
		text, err := store.Get(ctx, id)
		var missing *recovery.NotFound
		if errors.As(err, &missing) {
			return elsewhere(ctx, o, id)
		}
		return text.String(), err == nil, err
	}
}

// prunerOf returns the pruner that PRUNER_URL names, or nil if pruning is off.
func prunerOf(c settings.Settings) (pruneclient.Pruner, error) {
	switch c.PrunerURL {
	case "":
		return nil, nil
	case settings.Embedded:
		return pruneclient.NewEmbedded(c.PrunerTimeout), nil
	}
	pruner, err := pruneclient.NewHTTP(pruneclient.HTTPSettings{
		URL: c.PrunerURL, Timeout: c.PrunerTimeout, MaxInflight: c.PrunerMaxInflight, Threshold: c.PrunerThreshold,
	})
	if err != nil {
		return nil, fmt.Errorf("PRUNER_URL: %w", err)
	}
	return pruner, nil
}
