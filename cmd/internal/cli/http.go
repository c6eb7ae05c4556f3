package cli

import (
	"context"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/spf13/cobra"

	"mcp-pruner/cmd/internal/assemble"
	"mcp-pruner/cmd/internal/command"
	"mcp-pruner/cmd/internal/eventlog"
	"mcp-pruner/cmd/internal/httpserver"
	"mcp-pruner/cmd/internal/mcpserver"
	"mcp-pruner/cmd/internal/settings"
	"mcp-pruner/fsm"
	"mcp-pruner/fsm/event"
)

// httpCommand is the verb serve.
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
			return command.Exit(serveHTTP(c.Context(), p, given(c, settings.HTTP), format, nil))
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

// given returns the settings that are given as flags, by the flags' names.
func given(c *cobra.Command, program settings.Program) map[string]string {
	flags := make(map[string]string)
	for _, r := range settings.Rows(program) {
		if r.Flag != "" && c.Flags().Changed(r.Flag) {
			flags[r.Flag] = c.Flags().Lookup(r.Flag).Value.String()
		}
	}
	return flags
}

// sharedMemoryLimit is memoryLimit for many clients' outputs at once.
const sharedMemoryLimit = 512 << 20

// serveHTTP serves until ctx ends and returns the exit code.
func serveHTTP(ctx context.Context, p command.Process, flags map[string]string, format eventlog.Format, other offer) int {
	started := time.Now()
	boundMemory(settings.FromEnv(p.Env), sharedMemoryLimit)
	config, _, err := settings.Load(settings.HTTP, flags, settings.FromEnv(p.Env))
	logs := eventlog.NewAs(format, p.Stderr, event.Level(config.LogLevel))
	defer logs.Close(flushWithin)
	emit := logs.Emit
	var handler *httpserver.Handler
	var listener net.Listener
	var server *mcpserver.Server
	var tools *offered
	if err == nil {
		tools, err = openOffer(other, emit)
	}
	if err == nil {
		handler, server, err = newHTTPHandler(config, p.Env, emit, tools)
	}
	if err == nil {
		listener, err = httpserver.Listen(ctx, config.Host, config.Port)
	}
	if err != nil {
		emit(event.New("mcp_pruner.start_failed", "", fsm.Facts{"message": oneLine(err)}))
		return command.Usage
	}
	reportStrays(p.Env, emit)
	announce(format, p.Stderr, config, listener)
	defer tools.servedBy(server)()
	graceful, err := httpserver.Serve(ctx, p.Hurry, listener, handler)
	emit(event.New("mcp_pruner.stopped", "", fsm.Facts{
		"graceful": graceful, "duration_ms": time.Since(started).Milliseconds(),
	}))
	if err != nil {
		return command.Fail
	}
	return command.OK
}

// announce says where the server listens. It does so whatever the level of the log:
// with port 0 nobody could find the server otherwise.
func announce(format eventlog.Format, w io.Writer, c settings.Settings, l net.Listener) {
	logs := eventlog.NewAs(format, w, event.Debug)
	logs.Emit(event.New("mcp_pruner.ready", "", fsm.Facts{
		"host": c.Host, "port": l.Addr().(*net.TCPAddr).Port, "root": c.Root,
		"url": "http://" + l.Addr().String() + "/mcp",
	}))
	logs.Close(flushWithin)
}

// newHTTPHandler puts the parts together: what standard streams get too, with what
// the HTTP design adds.
func newHTTPHandler(c settings.Settings, env []string, emit func(event.Event), tools *offered) (*httpserver.Handler, *mcpserver.Server, error) {
	options := assemble.Options{
		Settings: c, Env: env, Version: buildVersion(), Emit: emit, Table: fsm.HTTPRequestTable(),
		Aliases: true, MaxPruneBytes: c.MaxPruneBytes, FieldErrors: true, MaxEach: c.MaxCalls / 4,
	}
	tools.in(&options)
	server, err := assemble.Server(options)
	if err != nil {
		return nil, nil, err
	}
	token, err := readToken(c.TokenFile)
	if err != nil {
		return nil, nil, fmt.Errorf("MCP_PRUNER_TOKEN_FILE: %w", err)
	}
	return httpserver.NewHandler(httpserver.Config{Server: server, Version: buildVersion(), Emit: emit, Token: token}), server, nil
}
