package verbs

import (
	"context"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/assemble"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/auth"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/mcp/httpserver"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/mcp/mcpserver"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/settings"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/web"
	"github.com/mcp-pruner/mcp-pruner/fsm"
	"github.com/mcp-pruner/mcp-pruner/fsm/event"
	"github.com/mcp-pruner/mcp-pruner/fsm/eventlog"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/service"
)

// httpCommand returns the verb serve.
func httpCommand(p command.Process) *cobra.Command {
	format := eventlog.JSON
	c := &cobra.Command{
		Use:   "serve",
		Short: "Serve over HTTP on this machine, to any number of clients",
		Long: `Serves MCP over HTTP on this machine, to any number of clients: POST /mcp, and
GET /healthz. Port 0 takes any free port; the event mcp_pruner.ready on standard
error names it. jeeves-mcp-pruner is the same under the name its design gives it.

Settings come from the environment; docs/HTTP.md lists them. Without PRUNER_URL
nothing is pruned.`,
		Example: `  PRUNER_URL=embedded mcp-pruner serve --port 8005
  claude mcp add --transport http pruner http://127.0.0.1:8005/mcp
  codex mcp add pruner --url http://127.0.0.1:8005/mcp`,
		Args: command.NoArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			return command.Exit(overHTTP{tools: true}.serve(c.Context(), p, given(c, settings.HTTP), format))
		},
	}
	c.Flags().Var(command.Choice(&format, eventlog.JSON, eventlog.Text), "log-format", "of the events on standard error")
	addFlags(c, settings.HTTP)
	return command.EndsItself(c)
}

// addFlags gives a verb the flags of its program's settings.
func addFlags(c *cobra.Command, program settings.Program) {
	for _, r := range settings.Rows(program) {
		if r.Flag != "" {
			c.Flags().String(r.Flag, r.Default, r.Allowed)
		}
	}
}

// given returns the settings that the command line sets, by the names of their flags.
func given(c *cobra.Command, program settings.Program) map[string]string {
	flags := make(map[string]string)
	for _, r := range settings.Rows(program) {
		if r.Flag != "" && c.Flags().Changed(r.Flag) {
			flags[r.Flag] = c.Flags().Lookup(r.Flag).Value.String()
		}
	}
	return flags
}

// These replace memoryLimit where many clients' outputs are in memory at the same time.
const (
	sharedMemoryLimit = 192 << 20 // twice what bodies may take
	prunerMemoryLimit = 512 << 20 // without its store
)

// overHTTP is a program that serves over HTTP: either the tools of the pipeline or the line pruner.
type overHTTP struct {
	tools bool
	other offer // tools of other servers; nil: none
}

// serve serves until ctx ends and returns the exit code.
func (o overHTTP) serve(ctx context.Context, p command.Process, flags map[string]string, format eventlog.Format) int {
	started := time.Now()
	config, err := o.load(flags, settings.FromEnv(p.Env))
	o.boundMemory(p, config)
	logs := eventlog.NewAs(format, p.Stderr, event.Level(config.LogLevel)).InRun(config.RunID)
	defer logs.Close(flushWithin)
	emit := logs.Emit
	var handler *httpserver.Handler
	var listener net.Listener
	closing := func() {}
	var tools *offered
	if err == nil {
		tools, err = openOffer(o.other, emit)
	}
	if err == nil {
		handler, closing, err = o.handler(config, p.Env, logs, tools)
	}
	if err == nil {
		defer closing()
		listener, err = web.Listen(ctx, config.Host, config.Port)
	}
	if err != nil {
		emit(event.New("mcp_pruner.start_failed", "", fsm.Facts{"message": oneLine(err)}))
		return command.Usage
	}
	reportStrays(p.Env, emit)
	for _, note := range config.Notes {
		emit(event.New("mcp_pruner.warning", "", fsm.Facts{"message": note}))
	}
	announce(format, p.Stderr, config, listener)
	defer tools.servedBy(handler.Server())()
	graceful, err := httpserver.Serve(ctx, p.Hurry, listener, handler)
	emit(event.New("mcp_pruner.stopped", "", fsm.Facts{
		"graceful": graceful, "duration_ms": time.Since(started).Milliseconds(),
	}))
	if err != nil {
		return command.Fail
	}
	return command.OK
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

func (o overHTTP) handler(c settings.Settings, env []string, logs *eventlog.Log, tools *offered) (h *httpserver.Handler, closing func(), err error) {
	keys, err := keysOf(c)
	if err != nil {
		return nil, nil, err
	}
	options := assemble.Options{Settings: c, Env: env, Version: buildVersion(), Emit: logs.Emit, Sync: logs.Sync, Transport: "http"}
	web := httpserver.Config{Version: buildVersion(), Emit: logs.Emit, Keys: keys}
	closing = func() {}
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

// keysOf returns the keys with which clients may call; nil: they need none.
func keysOf(c settings.Settings) (auth.Keys, error) {
	if c.TokenFile == "" {
		return nil, nil
	}
	token, err := auth.ReadToken(c.TokenFile)
	if err != nil {
		return nil, fmt.Errorf("MCP_PRUNER_TOKEN_FILE: %w", err)
	}
	return token, nil
}

// announce logs the address on which the server listens, at every log level, because with port 0 nobody could find
// the server otherwise.
func announce(format eventlog.Format, w io.Writer, c settings.Settings, l net.Listener) {
	logs := eventlog.NewAs(format, w, event.Debug).InRun(c.RunID)
	facts := fsm.Facts{
		"host": c.Host, "port": l.Addr().(*net.TCPAddr).Port, "url": "http://" + l.Addr().String() + "/mcp",
	}
	if c.Root != "" {
		facts["root"] = c.Root
	}
	logs.Emit(event.New("mcp_pruner.ready", "", facts))
	logs.Close(flushWithin)
}
