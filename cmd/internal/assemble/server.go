package assemble

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/mcp/mcpserver"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/settings"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/telemetry"
	"github.com/mcp-pruner/mcp-pruner/fsm"
	"github.com/mcp-pruner/mcp-pruner/pruneclient"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/deepinfra"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/recovery"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/service"
	"github.com/mcp-pruner/mcp-pruner/states"
	"github.com/mcp-pruner/mcp-pruner/states/ledger"
	"github.com/mcp-pruner/mcp-pruner/states/store"
	"github.com/mcp-pruner/mcp-pruner/tools"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
)

// openServer opens what serves MCP: who may come in, what is offered, what our own tools work with, who is told of the calls, and
// with all of that the server.
func openServer(ctx context.Context, form Form, o Options) (p Parts, err error) {
	lookup := settings.FromEnv(o.Env)
	if form != Stdio {
		var end func()
		p.Gate, end, err = Entry{Program: o.Program, Door: o.Settings.Door, Shell: hasShell(form, o), Failed: warn(o.Emit)}.Open(ctx, lookup)
		if p.closers = append(p.closers, end); err != nil {
			return p, err
		}
	}
	var offer *Offer
	if o.Offer != nil {
		if offer, err = o.Offer(o.Emit); err != nil {
			return p, err
		}
	}
	o.Settings.PrunerURL = offer.pruner(o.Settings.PrunerURL, lookup)
	place, err := recoveryPlace(o.Settings)
	if err != nil {
		return p, err
	}
	if form != Stdio && place.Shared() {
		if p.Replicas, err = OpenDatabase(place, nil); err != nil {
			return p, err
		}
		p.closers = append(p.closers, func() { _ = p.Replicas.Close() }) // nothing is left to write
	}
	index := ledger.Index(lookup)
	own, err := openOwn(form, o, place, index)
	if err != nil {
		return p, err
	}
	seen, err := observe(form, o, lookup)
	if err != nil {
		return p, err
	}
	if p.Lines = own.lines; p.Lines != nil && p.Replicas != nil {
		p.Lines.While(p.Replicas.Usable)
	}
	p.Server = mcpserver.New(configOf(form, o, offer, own, seen, pipelineOf(form, o, own, seen, index)))
	if offer != nil {
		offer.Tell(p.Server.ListChanged)
		p.closers = append(p.closers, offer.Close)
	}
	return p, nil
}

// hasShell reports whether callers get bash.
func hasShell(form Form, o Options) bool {
	s := o.Settings
	return form == HTTP && o.Offer == nil && slices.Contains(s.Toolsets, "core") && (len(s.Tools) == 0 || slices.Contains(s.Tools, "bash"))
}

// pipelineOf returns the pipeline of a server. A text that an agent of this machine has just brought back, as the index tells, is
// not pruned.
func pipelineOf(form Form, o Options, own own, seen observation, index recovery.Index) *states.Pipeline {
	p := &states.Pipeline{
		Machine: fsm.MustCompile(fsm.HTTPRequestTable()), Tools: append(own.tools, seen.tools...), Emit: o.Emit,
		Observers: seen.observers, Closers: append([]func() error{own.texts.Close}, seen.closers...),
	}
	if form == Pruner {
		return p
	}
	p.Pruner, p.Keep, p.RepeatRaw, p.SyncLog = own.pruner, own.texts.PutShort, o.Settings.RepeatRaw, o.Sync
	if own.shared {
		p.KeepBeside = own.texts.PutBeside
	}
	p.Printed = func(text string) bool {
		_, found := recovery.Printed{State: index.State}.Find(text)
		return found
	}
	if form == HTTP {
		p.MaxPruneBytes, p.FieldErrors = o.Settings.MaxPruneBytes, true
	} else {
		p.Machine = fsm.MustCompile(fsm.RequestTable())
	}
	return p
}

// configOf returns what makes a server of a pipeline.
func configOf(form Form, o Options, offer *Offer, own own, seen observation, p *states.Pipeline) mcpserver.Config {
	s := o.Settings
	c := mcpserver.Config{Pipeline: p, Version: o.Version, Result: "auto", AlwaysLoad: true, MaxCalls: s.MaxCalls, Answered: seen.answered}
	if form == Pruner {
		return c
	}
	c.Result, c.AlwaysLoad, c.InvalidParams = s.Result, s.AlwaysLoad, s.InvalidParams
	if form == HTTP || offer != nil {
		c.MaxEach = s.MaxCalls / mcpserver.EachPart // a server that hangs leaves slots for the others
	}
	if offer == nil {
		c.Instructions = own.instructions
		return c
	}
	c.AlwaysLoad = false // a client that loads tools on demand keeps doing so
	c.List, c.Instruct, c.Notified, c.Features = offer.list(own), offer.Instruct, offer.Notified, offer.Features
	return c
}

// Offer is a list of tools that is served instead of our own. It depends on the client and may change.
type Offer struct {
	List     func(client string) []tools.Tool
	Instruct func(client string) string // instructions that go with List
	Notified func(client *mcpserver.Caller, method string, params json.RawMessage) (told bool)
	Features *mcpserver.Features                 // what goes with List
	Prunes   bool                                // some of its results are pruned, by the embedded pruner if no other is set
	Tell     func(changed func(lists ...string)) // sets the function that is called when lists change
	Close    func()
}

// pruner returns the name of the pruner that settings and environment name for results of the offer.
func (o *Offer) pruner(named string, lookup settings.Lookup) string {
	if o == nil || !o.Prunes {
		return named
	}
	for _, name := range []string{"PRUNER_URL", "JEEVES_PRUNER_ENDPOINT"} {
		if value, _ := lookup(name); value != "" {
			return named
		}
	}
	return settings.Embedded
}

// list returns the tool list of a client, with our recover_text added if results are pruned, unless a server has one. Where a proxy
// shares the originals, clients load it at the start: the proxy clears only what it sees a way back to.
func (o *Offer) list(own own) func(client string) []tools.Tool {
	if !o.Prunes {
		return o.List
	}
	back := mcpserver.RecoverTool(own.lines)
	back.AlwaysLoad = own.shared
	return func(client string) []tools.Tool {
		list := o.List(client)
		if slices.ContainsFunc(list, func(t tools.Tool) bool { return t.Name == back.Name }) {
			return list
		}
		return append(slices.Clip(list), back)
	}
}

// own are the tools of a server, and what they work with.
type own struct {
	texts        *recovery.Store // the originals
	shared       bool            // they are in a database
	lines        *service.Service
	tools        []tools.Tool
	pruner       pruneclient.Pruner // nil: pruning is off
	instructions string
}

// openOwn opens the tools of the enabled toolsets; the line pruner has those of the toolset text. place is that of the originals.
func openOwn(form Form, o Options, place Place, index recovery.Index) (w own, err error) {
	s := o.Settings
	if w.texts, err = openTexts(place, s, warn(o.Emit)); err != nil {
		return w, err
	}
	w.shared = place.Shared()
	if w.lines, err = linesOf(w.texts, s, o.Version); err != nil {
		return w, err
	}
	if slices.Contains(s.Toolsets, "core") {
		w.instructions = tools.Instructions
		w.tools, err = tools.New(tools.Settings{
			Root: s.Root, PassEnv: s.PassEnv, Narrow: s.Tools, NonzeroExitAsOutput: nonzeroAsOutput(s), Aliases: form == HTTP,
			BashTimeout: int(s.BashTimeout.Milliseconds()), BashMaxTimeout: int(s.BashMaxTimeout.Milliseconds()),
			Original: originalIn(w.texts, index, s.Root), Env: func() []string { return o.Env },
		})
		if err != nil {
			return w, err
		}
	}
	if form == Pruner || slices.Contains(s.Toolsets, "text") {
		w.tools = append(w.tools, mcpserver.TextTools(w.lines)...)
	}
	w.pruner, err = prunerOf(s)
	return w, err
}

// linesOf returns the line pruner's service over a store.
func linesOf(texts *recovery.Store, s settings.Settings, version string) (*service.Service, error) {
	c := service.Settings{Store: texts, MaxInputChars: s.MaxInputChars, Version: version}
	if s.Cloud != nil {
		var err error
		if c.Reranker, err = deepinfra.New(*s.Cloud); err != nil {
			return nil, err
		}
	}
	return service.New(c), nil
}

// nonzeroAsOutput reports whether a failed command is a result instead of an error. The default is true with the
// embedded pruner.
func nonzeroAsOutput(s settings.Settings) bool {
	return s.NonzeroExit == "output" || s.NonzeroExit == "auto" && s.PrunerURL == settings.Embedded
}

// originalIn finds the stored text of a pruned or cut output, or a text that a hook or the proxy cut, by its id.
func originalIn(texts *recovery.Store, index recovery.Index, root string) func(context.Context, string) (string, bool, error) {
	return func(ctx context.Context, id string) (string, bool, error) {
		text, err := texts.Get(ctx, id)
		var missing *recovery.NotFound
		if !errors.As(err, &missing) {
			return text.String(), err == nil, err
		}
		if agent.SubjectOf(ctx) != "" {
			return "", false, nil // the files of hooks and proxies belong to the owner of the machine
		}
		cut, _, err := ledger.Original(ctx, index, root, id)
		if errors.Is(err, recovery.ErrNotFound) {
			return "", false, nil
		}
		return cut, err == nil, err
	}
}

// prunerOf returns the pruner that PRUNER_URL names, or nil if pruning is off.
func prunerOf(s settings.Settings) (pruneclient.Pruner, error) {
	switch s.PrunerURL {
	case "":
		return nil, nil
	case settings.Embedded:
		return pruneclient.NewEmbedded(s.PrunerTimeout), nil
	}
	pruner, err := pruneclient.NewHTTP(pruneclient.HTTPSettings{
		URL: s.PrunerURL, Timeout: s.PrunerTimeout, MaxInflight: s.PrunerMaxInflight, Threshold: s.PrunerThreshold,
	})
	if err != nil {
		return nil, fmt.Errorf("PRUNER_URL: %w", err)
	}
	return pruner, nil
}

// observation is who is told of the calls of a server.
type observation struct {
	observers []states.Observer
	tools     []tools.Tool                                      // those of the ledger
	answered  func(method string, code int, took time.Duration) // is told of all other requests; nil: nobody is
	closers   []func() error
}

// observe opens trace, ledger and telemetry, as far as the settings ask for them.
func observe(form Form, o Options, lookup settings.Lookup) (seen observation, err error) {
	if o.Settings.Trace != "" {
		door := o.door(form)
		file, err := door.Trace()
		if err != nil {
			return seen, err
		}
		closeProc()
		seen.observers, seen.closers = append(seen.observers, door.Tracer(file)), append(seen.closers, file.Close)
	}
	if s := o.Settings; form != Pruner && (offersLedger(s) || s.GCStore != "" || s.Store != "") {
		kept, err := OpenLedger(context.Background(), "", lookupOf(s, lookup), LedgerFailed(o.Emit))
		if err != nil {
			return seen, err
		}
		seen = seen.with(kept, o)
	}
	usable, closed := database(o.Settings)
	seen.closers = append(seen.closers, closed)
	told := openTelemetry(form, o, usable)
	seen.observers, seen.answered = append(seen.observers, told.Observers...), told.Answered
	if told.Close != nil {
		seen.closers = append(seen.closers, told.Close)
	}
	return seen, nil
}

// offersLedger reports whether agents get the tools of the ledger.
func offersLedger(s settings.Settings) bool { return slices.Contains(s.Toolsets, "gc") }

// with adds a ledger, with its tools if agents get them.
func (seen observation) with(l Ledger, o Options) observation {
	s := o.Settings
	project := contextgc.ProjectOf(s.Root)
	if offersLedger(s) {
		index := limited{l.Index, &recovery.Misses{}, warn(o.Emit)}
		seen.tools = contextgc.Toolset{Store: l, Project: project, Shown: ledger.Shown(index, l.Name(), s.Root)}.Tools()
	}
	failed := func(err error) { LedgerFailed(o.Emit)(err.Error()) }
	to := ledger.Observer{Store: l, CutOnly: !KeepsAll(l, s), Project: project, Failed: failed}
	if l.Shared() {
		to.Queue = ledger.New(l, failed)
	}
	seen.observers = append(seen.observers, to)
	stop := ledger.KeepClean(l, l.Files, LedgerLimits(s), failed)
	seen.closers = append(seen.closers, func() error {
		stop()
		if to.Queue != nil {
			to.Queue.Close(storeWithin)
		}
		return l.Close()
	})
	return seen
}

// storeWithin is how long the end of a server waits for what is not in the database yet.
const storeWithin = 2 * time.Second

// KeepsAll reports whether a ledger keeps results that were neither cut nor cleared: that of one user, and that of a team whose agents
// have the ledger's tools.
func KeepsAll(l Ledger, s settings.Settings) bool { return !l.Shared() || offersLedger(s) }

// database returns what says whether the team's database can be used, which was opened with the originals before; nil: there is none.
func database(s settings.Settings) (usable func(context.Context) error, closed func() error) {
	if place, err := recoveryPlace(s); err == nil && place.Shared() {
		if db, err := store.Open(place.Database); err == nil {
			return db.Usable, db.Close
		}
	}
	return nil, func() error { return nil }
}

// openTelemetry counts calls and sends spans, if settings and environment ask for it.
func openTelemetry(form Form, o Options, database func(context.Context) error) telemetry.Telemetry {
	networks := map[Form]string{Stdio: "pipe", HTTP: "tcp", Pruner: "tcp"} // OpenTelemetry's names
	return telemetry.Open(telemetry.Options{
		Metrics: o.Settings.Metrics, Token: o.Settings.MetricsToken, Env: o.Env, Version: o.Version, Transport: networks[form], Emit: o.Emit,
		Database: database,
	})
}

// door returns what keeps the trace of a form.
func (o Options) door(form Form) Door {
	transport := string(form)
	if form == Pruner {
		transport = string(HTTP)
	}
	return Door{Settings: o.Settings, Version: o.Version, Transport: transport, Emit: o.Emit, Sync: o.Sync, Failed: o.Failed}
}

// warn returns a function that writes a message for the operator into the event log.
func warn(emit func(fsm.Event)) func(message string) {
	return func(m string) { emit(fsm.NewEvent("mcp_pruner.warning", "", fsm.Facts{"message": m})) }
}
