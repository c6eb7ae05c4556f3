package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os/signal"
	"slices"
	"time"

	"mcp-pruner/cmd/internal/assemble"
	"mcp-pruner/cmd/internal/eventlog"
	"mcp-pruner/cmd/internal/httpserver"
	"mcp-pruner/cmd/internal/settings"
	"mcp-pruner/fsm"
)

const httpUsage = `usage: mcp-pruner serve [--host 127.0.0.1] [--port 0] [--root .] [--log-format json|text]
       jeeves-mcp-pruner  the same

Serves MCP over HTTP on this machine, to any number of clients: POST /mcp, and
GET /healthz. Port 0 takes any free port; the event mcp_pruner.ready on standard
error names it.

  --host ADDRESS     127.0.0.1 or ::1
  --port PORT        0 to 65535
  --root DIR         what paths are relative to and may not leave
  --log-format FORM  of the events on standard error: json or text

examples:
  PRUNER_URL=embedded mcp-pruner serve --port 8005
  claude mcp add --transport http pruner http://127.0.0.1:8005/mcp
  codex mcp add pruner --url http://127.0.0.1:8005/mcp

Settings come from the environment; docs/HTTP.md lists them. Without PRUNER_URL
nothing is pruned.
`

// RunHTTP is the HTTP server as a program of its own, and returns the exit code.
func RunHTTP(p Process) int {
	ctx, stop := signal.NotifyContext(context.Background(), endSignals()...)
	defer stop()
	surviveClosedPipes()
	return serveHTTP(ctx, p)
}

// sharedMemoryLimit is memoryLimit for many clients' outputs at once.
const sharedMemoryLimit = 512 << 20

// serveHTTP is the verb serve.
func serveHTTP(ctx context.Context, p Process) int {
	started := time.Now()
	boundMemory(settings.FromEnv(p.Env), sharedMemoryLimit)
	flags, format, err := parseServe(p.Args)
	if errors.Is(err, flag.ErrHelp) {
		fmt.Fprint(p.Stdout, httpUsage)
		return exitOK
	}
	if err != nil {
		fmt.Fprintf(p.Stderr, "mcp-pruner serve: %v\n\n%s", err, httpUsage)
		return exitUsage
	}
	config, _, err := settings.LoadHTTP(flags, settings.FromEnv(p.Env))
	logs := eventlog.NewAs(format, p.Stderr, fsm.Level(config.LogLevel))
	defer logs.Close(flushWithin)
	emit := logs.Emit
	var handler *httpserver.Handler
	var listener net.Listener
	if err == nil {
		handler, err = newHTTPHandler(config, p.Env, emit)
	}
	if err == nil {
		listener, err = httpserver.Listen(ctx, config.Host, config.Port)
	}
	if err != nil {
		emit(fsm.NewEvent("mcp_pruner.start_failed", "", fsm.Facts{"message": oneLine(err)}))
		return exitUsage
	}
	announce(format, p.Stderr, config, listener)
	graceful, err := httpserver.Serve(ctx, listener, handler)
	emit(fsm.NewEvent("mcp_pruner.stopped", "", fsm.Facts{
		"graceful": graceful, "duration_ms": time.Since(started).Milliseconds(),
	}))
	if err != nil {
		return exitFail
	}
	return exitOK
}

// announce says where the server listens. It does so whatever the level of the log:
// with port 0 nobody could find the server otherwise.
func announce(format eventlog.Format, w io.Writer, c settings.HTTP, l net.Listener) {
	logs := eventlog.NewAs(format, w, fsm.Debug)
	logs.Emit(fsm.NewEvent("mcp_pruner.ready", "", fsm.Facts{
		"host": c.Host, "port": l.Addr().(*net.TCPAddr).Port, "root": c.Root,
	}))
	logs.Close(flushWithin)
}

// parseServe returns the settings that are given as flags, by name, and the form
// of the log.
func parseServe(args []string) (given map[string]string, format eventlog.Format, err error) {
	flags := flag.NewFlagSet("serve", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // what is wrong is said once, with the usage
	for _, name := range []string{"host", "port", "root"} {
		flags.String(name, "", "")
	}
	form := flags.String("log-format", string(eventlog.JSON), "")
	if err := flags.Parse(args); err != nil {
		return nil, "", err
	}
	if flags.NArg() > 0 {
		return nil, "", fmt.Errorf("there is no argument %q", flags.Arg(0))
	}
	if !slices.Contains([]string{"json", "text"}, *form) {
		return nil, "", fmt.Errorf("--log-format=%q: want json or text", *form)
	}
	given = make(map[string]string)
	flags.Visit(func(f *flag.Flag) { given[f.Name] = f.Value.String() })
	delete(given, "log-format")
	return given, eventlog.Format(*form), nil
}

// newHTTPHandler puts the parts together: what standard streams get too, with what
// the HTTP design adds.
func newHTTPHandler(c settings.HTTP, env []string, emit func(fsm.Event)) (*httpserver.Handler, error) {
	server, err := assemble.Server(assemble.Options{
		Settings: c.Settings, Env: env, Version: buildVersion(), Emit: emit, Table: fsm.HTTPRequestTable(),
		Aliases: true, MaxPruneBytes: c.MaxPruneBytes, FieldErrors: true, MaxEach: c.MaxCalls / 4,
	})
	if err != nil {
		return nil, err
	}
	return httpserver.NewHandler(httpserver.Config{Server: server, Version: buildVersion()}), nil
}
