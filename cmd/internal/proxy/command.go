package proxy

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/assemble/stores"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/settings"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/telemetry"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/wayback"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/web"
	"github.com/mcp-pruner/mcp-pruner/fsm/event"
	"github.com/mcp-pruner/mcp-pruner/fsm/eventlog"
	"github.com/mcp-pruner/mcp-pruner/fsm/trace"
	"github.com/mcp-pruner/mcp-pruner/runnerfsm/setup/secret"
	"github.com/mcp-pruner/mcp-pruner/states"
	"github.com/mcp-pruner/mcp-pruner/states/clearing"
	"github.com/mcp-pruner/mcp-pruner/states/existing"
	"github.com/mcp-pruner/mcp-pruner/states/ledger"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc/planner"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc/wire"
)

// policy selects what the proxy changes in requests.
type policy string

const (
	policyGC    policy = "gc"
	policyPrune policy = "prune"
	policyBoth  policy = "both"
	policyOff   policy = "off"
)

// options are the checked command-line options.
type options struct {
	port     int
	upstream *url.URL
	policy   policy
	store    string
	version  string
}

// Command returns the verb proxy.
func Command(p command.Process, version string) *cobra.Command {
	o := options{policy: policyGC, version: version}
	var upstream string
	c := &cobra.Command{
		Use:   "proxy",
		Short: "Clear old tool results between an agent and its model's API",
		Long: `Serves the Anthropic Messages, OpenAI Responses and Chat Completions and Gemini APIs on
this machine and passes every request on. Old tool results are replaced by a line with the
command that prints them, in batches and only when it pays. The first line on standard error
is a JSON event with the address in data.url. Clients need the secret, too: data.url_file
is a file with both, and "mcp-pruner init claude --proxy" writes them. Keys pass through and
are never stored. docs/GC.md explains what it does and what it saves.`,
		Example: `  mcp-pruner proxy --port 8787
  ANTHROPIC_BASE_URL=$(cat ~/.local/state/mcp-pruner/proxy-8787.url) claude
  GOOGLE_GEMINI_BASE_URL=$(cat ~/.local/state/mcp-pruner/proxy-8787.url) gemini`,
		Args: command.NoArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			if upstream != "" {
				u, err := url.Parse(upstream)
				if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
					return command.Usagef("--upstream %q: want an http or https URL", upstream)
				}
				o.upstream = u
			}
			if o.port < 0 || o.port > 65535 {
				return command.Usagef("--port %d: want a number from 0 to 65535", o.port)
			}
			return run(c.Context(), p, o)
		},
	}
	f := c.Flags()
	f.IntVar(&o.port, "port", 0, "where to listen on 127.0.0.1; 0 takes any free port")
	f.StringVar(&upstream, "upstream", "", "where all requests go (default: to the provider that path and key both name)")
	f.Var(command.Choice(&o.policy, policyGC, policyPrune, policyBoth, policyOff), "policy",
		"clear old results, prune fresh ones, both, or pass everything through")
	f.StringVar(&o.store, "store", "", "the ledger's file (default: MCP_PRUNER_GC_STORE, else in the user's state directory)")
	return command.EndsItself(c)
}

// run serves until ctx ends.
func run(ctx context.Context, p command.Process, o options) error {
	started := time.Now()
	config, _, err := settings.Load(settings.Stdio, nil, p.Lookup)
	if err != nil {
		return command.Usagef("%w", err)
	}
	logs := eventlog.New(p.Stderr, event.Level(config.LogLevel)).InRun(config.RunID)
	defer logs.Close(time.Second)
	l, err := web.Listen(ctx, "127.0.0.1", o.port)
	if err != nil {
		return err
	}
	access, file, err := announce(p, l)
	if err != nil {
		return errors.Join(err, l.Close())
	}
	defer func() { _ = os.Remove(file) }() // the address ends with the proxy
	handler, end := assembleProxy(ctx, p, config, o, logs.Emit, logs.Sync)
	handler.secret = access
	graceful, err := serve(ctx, l, handler)
	end()
	logs.Emit(event.New("mcp_pruner.stopped", "", event.Facts{"graceful": graceful, "duration_ms": time.Since(started).Milliseconds()}))
	return err
}

// finishWithin is the time limit for answers in progress when the proxy ends.
const finishWithin = 3 * time.Second

// serve answers requests until ctx ends. graceful reports whether every answer in progress was finished.
func serve(ctx context.Context, l net.Listener, h http.Handler) (graceful bool, err error) {
	s := web.NewServer(h)
	s.ConnContext = withPeer
	return web.Serve(ctx, s, l, func() bool { return web.ShutDown(s, finishWithin, nil) })
}

// announce writes the proxy's address with the secret into a file, and prints the address without it and the file's
// name, whatever the log level.
func announce(p command.Process, l net.Listener) (access secret.Secret, file string, err error) {
	if access, err = secret.Load(p.Lookup); err != nil {
		return "", "", err
	}
	if file, err = secret.URLFile(p.Lookup, l.Addr().(*net.TCPAddr).Port); err != nil {
		return "", "", err
	}
	address := "http://" + l.Addr().String()
	if err := access.WriteURL(file, address); err != nil {
		return "", "", fmt.Errorf("write the address of the proxy: %w", err)
	}
	logs := eventlog.New(p.Stderr, event.Debug)
	logs.Emit(event.New("proxy.ready", "", event.Facts{"url": address + "/" + secret.Mask, "url_file": file}))
	logs.Close(time.Second)
	return access, file, nil
}

// assembleProxy creates the proxy's parts. If the store cannot be opened, everything passes through: a
// broken ledger must not stop an agent. sync waits until the log has all events emitted so far.
func assembleProxy(ctx context.Context, p command.Process, c settings.Settings, o options, emit func(event.Event), sync func()) (*server, func()) {
	failed := func(err error) { emit(event.New("ledger.failed", "", event.Facts{"message": err.Error()})) }
	told := telemetry.Open(telemetry.Options{Metrics: c.Metrics, Env: p.Env, Version: o.version, Emit: emit})
	closeTelemetry := func() {
		if told.Close != nil {
			_ = told.Close() // no one is left to report an error to
		}
	}
	if o.policy == policyOff {
		return newServer(o.upstream, nil, nil, emit), closeTelemetry
	}
	store, err := stores.OpenLedger(ctx, o.store, p.Lookup, stores.LedgerFailed(emit))
	if err != nil {
		failed(err)
		return newServer(o.upstream, nil, nil, emit), closeTelemetry
	}
	door := stores.Door{Settings: c, Version: o.version, Transport: "proxy", Emit: emit, Sync: sync}
	file := openTrace(door, store.Name())
	var observers []states.Observer
	if file != nil {
		observers = append(observers, door.Tracer(file))
	}
	sessions := clearing.NewRuns(emit, file, o.version, time.Now)
	e := &clearing.Engine{
		Store: store, Index: ledger.Index(p.Lookup), Machine: existing.Machine{Emit: emit, Observers: append(observers, told.Observers...)},
		Runs: sessions, Back: wayBackOf(p), Policy: planner.DefaultPolicy(),
		Clears: o.policy != policyPrune, Prunes: o.policy != policyGC, Others: c.OtherTools, Now: time.Now, SyncLog: sync,
	}
	if err := e.Load(ctx); err != nil {
		failed(err)
	}
	s := newServer(o.upstream, e, sessions, emit)
	book := ledger.New(store, failed)
	stopCleaning := ledger.KeepClean(store, e.Index, stores.Limits(c), failed)
	s.usage = book.AddUsage
	s.feed = func(c *wire.Conversation, client string) {
		for _, r := range c.Last().Results {
			if r.HasText() {
				book.Add(clearing.Entry(c, r, client))
			}
		}
	}
	return s, func() {
		stopCleaning()
		s.feeding.Wait()
		book.Close(2 * time.Second)
		sessions.Close()
		if file != nil {
			_ = file.Close() // it has reported its errors
		}
		closeTelemetry()
		if err := store.Close(); err != nil {
			failed(err)
		}
	}
}

// wayBackOf returns the command that recovers a text for the client with a User-Agent.
func wayBackOf(p command.Process) func(agent string) string {
	return func(userAgent string) string { return wayback.Command(agent.Calling(userAgent).Name, p.Lookup) }
}

// openTrace opens the trace that the settings name, or the one beside the ledger. It returns nil if the trace cannot be
// opened, which is reported.
func openTrace(door stores.Door, ledger string) *trace.File {
	path := door.Settings.Trace
	if path == "" {
		path = filepath.Join(filepath.Dir(ledger), "proxy-trace.jsonl")
	}
	file, err := door.TraceAt(path)
	if err != nil {
		door.Emit(event.New("mcp_pruner.trace_failed", "", event.Facts{"message": fmt.Sprintf("%s: %v", path, err)}))
		return nil
	}
	return file
}
