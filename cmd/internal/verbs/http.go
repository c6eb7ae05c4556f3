package verbs

import (
	"context"
	"errors"
	"io"
	"net"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/assemble"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/mcp/httpserver"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/mcp/mcpserver"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/settings"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/web"
	"github.com/mcp-pruner/mcp-pruner/fsm"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/service"
)

// httpCommand returns the verb serve.
func httpCommand(p command.Process) *cobra.Command {
	format := fsm.LogJSON
	c := &cobra.Command{
		Use:   "serve",
		Short: "Serve over HTTP on this machine, to any number of clients",
		Long: `Serves MCP over HTTP on this machine, to any number of clients: POST /mcp, and
GET /healthz. Port 0 takes any free port; the event mcp_pruner.ready on standard
error names it. jeeves-mcp-pruner is the same under the name its design gives it.

Settings come from the environment; docs/CONFIG.md lists them. Without PRUNER_URL
nothing is pruned.`,
		Example: `  PRUNER_URL=embedded mcp-pruner serve --port 8005
  claude mcp add --transport http pruner http://127.0.0.1:8005/mcp
  codex mcp add pruner --url http://127.0.0.1:8005/mcp`,
		Args: command.NoArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			return command.Exit(overHTTP{door: "serve", tools: true}.serve(c.Context(), p, settings.Given(c.Flags(), settings.HTTP), format))
		},
	}
	c.Flags().Var(command.Choice(&format, fsm.LogJSON, fsm.LogText), "log-format", "of the events on standard error")
	settings.AddFlags(c.Flags(), settings.HTTP)
	return command.EndsItself(c)
}

// These replace memoryLimit where many clients' outputs are in memory at the same time.
const (
	sharedMemoryLimit = 192 << 20 // twice what bodies may take
	prunerMemoryLimit = 512 << 20 // without its store
)

// overHTTP is a program that serves over HTTP: either the tools of the pipeline or the line pruner.
type overHTTP struct {
	door  string // its name in the scopes of keys
	tools bool
	other offer // tools of other servers; nil: none
}

// serve serves until ctx ends and returns the exit code.
func (o overHTTP) serve(ctx context.Context, p command.Process, flags map[string]string, format fsm.LogFormat) int {
	started := time.Now()
	config, err := o.load(flags, settings.FromEnv(p.Env))
	o.boundMemory(p, config)
	logs := fsm.NewEventLogAs(format, p.Stderr, fsm.Level(config.LogLevel)).InRun(config.RunID)
	defer logs.Close(flushWithin)
	emit := logs.Emit
	var s openParts
	if _, named := flags["root"]; err == nil && !named {
		err = o.withoutRoot(&config)
	}
	if err == nil {
		s, err = o.open(ctx, p, config, logs)
		defer s.close()
	}
	if err != nil {
		emit(fsm.NewEvent("mcp_pruner.start_failed", "", fsm.Facts{"message": oneLine(err)}))
		return command.Usage
	}
	reportStrays(p.Env, emit)
	for _, note := range config.Notes {
		emit(fsm.NewEvent("mcp_pruner.warning", "", fsm.Facts{"message": note}))
	}
	announce(format, p.Stderr, config, s.listener)
	defer s.tools.servedBy(s.handler.Server())()
	graceful, err := httpserver.Serve(ctx, p.Hurry, s.listener, s.handler)
	emit(fsm.NewEvent("mcp_pruner.stopped", "", fsm.Facts{
		"graceful": graceful, "duration_ms": time.Since(started).Milliseconds(),
	}))
	if err != nil {
		return command.Fail
	}
	return command.OK
}

// openParts are the parts of a server over HTTP.
type openParts struct {
	handler  *httpserver.Handler
	listener net.Listener
	tools    *offered
	closers  []func()
}

// close closes the parts, the last that was opened first.
func (s openParts) close() {
	for _, c := range slices.Backward(s.closers) {
		c()
	}
}

// open opens the parts. After an error, too, close closes those that are open.
func (o overHTTP) open(ctx context.Context, p command.Process, c settings.Settings, logs *fsm.EventLog) (s openParts, err error) {
	warn := func(message string) {
		logs.Emit(fsm.NewEvent("mcp_pruner.warning", "", fsm.Facts{"message": message}))
	}
	entry := assemble.Entry{Program: o.door, Door: c.Door, Shell: o.hasShell(c), Failed: warn}
	gate, closeGate, err := entry.Open(ctx, settings.FromEnv(p.Env))
	s.closers = append(s.closers, closeGate)
	if err != nil {
		return s, err
	}
	if s.tools, err = openOffer(o.other, logs.Emit); err != nil {
		return s, err
	}
	handler, closing, err := o.handler(c, p.Env, logs, s.tools, gate)
	if err != nil {
		return s, err
	}
	s.handler, s.closers = handler, append(s.closers, closing)
	s.listener, err = c.Access.Listen(ctx, c.Port, func(err error) { warn(err.Error()) })
	return s, err
}

func (o overHTTP) load(flags map[string]string, env settings.Lookup) (settings.Settings, error) {
	if !o.tools {
		return settings.LoadPruner(flags, env)
	}
	config, _, err := settings.Load(settings.HTTP, flags, env)
	return config, err
}

// boundMemory limits the heap. The line pruner needs room for a full store, for the requests in progress and as much
// again for the work on them, and for recovered texts.
func (o overHTTP) boundMemory(p command.Process, c settings.Settings) {
	limit := int64(sharedMemoryLimit)
	if !o.tools {
		limit = prunerMemoryLimit + c.RecoveryMaxBytes
	}
	command.BoundMemory(p.Lookup, limit)
}

// withoutRoot takes read, bash and grep from a server that others than this machine reach, because nobody named the folder
// that they may see. It fails if nothing is left.
func (o overHTTP) withoutRoot(c *settings.Settings) error {
	if !c.Access.Beyond() || !o.tools || o.other != nil {
		return nil
	}
	c.Toolsets = slices.DeleteFunc(slices.Clone(c.Toolsets), func(set string) bool { return set == "core" })
	if len(c.Toolsets) == 0 {
		return errors.New("beyond loopback read, bash and grep are offered only with --root, which names the folder that callers may see")
	}
	return nil
}

// hasShell reports whether callers get bash.
func (o overHTTP) hasShell(c settings.Settings) bool {
	return o.tools && o.other == nil && slices.Contains(c.Toolsets, "core") && (len(c.Tools) == 0 || slices.Contains(c.Tools, "bash"))
}

func (o overHTTP) handler(c settings.Settings, env []string, logs *fsm.EventLog, tools *offered, gate *web.Gate) (h *httpserver.Handler, closing func(), err error) {
	options := assemble.Options{Settings: c, Env: env, Version: buildVersion(), Emit: logs.Emit, Sync: logs.Sync, Transport: "http"}
	web := httpserver.Config{Version: buildVersion(), Emit: logs.Emit, Gate: gate, Access: c.Access, FinishWithin: c.FinishWithin()}
	closing = func() {}
	shared, err := assemble.OpenReplicas(c)
	if err != nil {
		return nil, nil, err
	}
	if shared != nil {
		web.Replicas, web.Database = shared, shared.Usable
		defer func() {
			rest := closing
			closing = func() {
				if rest != nil {
					rest()
				}
				_ = shared.Close() // nothing is left to write
			}
		}()
	}
	var lines *service.Service
	if o.tools {
		options.Table, options.Aliases, options.FieldErrors = fsm.HTTPRequestTable(), true, true
		options.MaxPruneBytes, options.MaxEach = c.MaxPruneBytes, c.MaxCalls/mcpserver.EachPart
		tools.in(&options)
		web.Server, err = assemble.Server(options)
	} else {
		web.Server, lines, closing, err = assemble.Pruner(options)
	}
	if err != nil {
		return nil, nil, err
	}
	if lines != nil {
		web.Pruner = httpserver.NewPruner(web.Server, lines)
	}
	return httpserver.NewHandler(web), closing, nil
}

// announce logs the address on which the server listens, at every log level, because with port 0 nobody could find
// the server otherwise.
func announce(format fsm.LogFormat, w io.Writer, c settings.Settings, l net.Listener) {
	logs := fsm.NewEventLogAs(format, w, fsm.LevelDebug).InRun(c.RunID)
	facts := fsm.Facts{
		"host": c.Access.Host, "port": l.Addr().(*net.TCPAddr).Port, "url": c.Access.Scheme() + "://" + l.Addr().String() + "/mcp",
	}
	if c.Root != "" {
		facts["root"] = c.Root
	}
	logs.Emit(fsm.NewEvent("mcp_pruner.ready", "", facts))
	logs.Close(flushWithin)
}
