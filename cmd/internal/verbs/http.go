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
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/settings"
	"github.com/mcp-pruner/mcp-pruner/fsm"
)

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
			return command.Exit(overHTTP{door: "serve", form: assemble.HTTP}.serve(c.Context(), p, settings.Given(c.Flags(), settings.HTTP), format))
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
	form  assemble.Form
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
	if _, named := flags["root"]; err == nil && !named {
		err = o.withoutRoot(&config)
	}
	var parts assemble.Parts
	var listener net.Listener
	if err == nil {
		parts, err = assemble.Make(ctx, o.form, assemble.Options{
			Settings: config, Env: p.Env, Version: buildVersion(), Emit: emit, Sync: logs.Sync, Program: o.door, Offer: o.other,
		})
		if err == nil {
			defer parts.Close()
		}
	}
	if err == nil {
		listener, err = config.Access.Listen(ctx, config.Port, func(err error) {
			emit(fsm.NewEvent("mcp_pruner.warning", "", fsm.Facts{"message": err.Error()}))
		})
	}
	if err != nil {
		return startFailed(p, emit, err)
	}
	reportStrays(p.Env, emit)
	for _, note := range config.Notes {
		emit(fsm.NewEvent("mcp_pruner.warning", "", fsm.Facts{"message": note}))
	}
	announce(format, p.Stderr, config, listener)
	graceful, err := httpserver.Serve(ctx, p.Hurry, listener, handlerOf(p, config, parts, emit))
	emit(fsm.NewEvent("mcp_pruner.stopped", "", fsm.Facts{
		"graceful": graceful, "duration_ms": time.Since(started).Milliseconds(),
	}))
	if err != nil {
		return command.Fail
	}
	return command.OK
}

// handlerOf returns the handler of a server's requests.
func handlerOf(p command.Process, s settings.Settings, parts assemble.Parts, emit func(fsm.Event)) *httpserver.Handler {
	c := httpserver.Config{
		Server: parts.Server, Version: buildVersion(), Emit: emit, Gate: parts.Gate, Access: s.Access, FinishWithin: s.FinishWithin(),
		Key: sessionKey(p.Lookup),
	}
	if parts.Replicas != nil {
		c.Replicas, c.Database = parts.Replicas, parts.Replicas.Usable
	}
	if parts.Lines != nil {
		c.Pruner = httpserver.NewPruner(parts.Server, parts.Lines)
	}
	return httpserver.NewHandler(c)
}

func (o overHTTP) load(flags map[string]string, env settings.Lookup) (settings.Settings, error) {
	if o.form == assemble.Pruner {
		return settings.LoadPruner(flags, env)
	}
	config, _, err := settings.Load(settings.HTTP, flags, env)
	return config, err
}

// boundMemory limits the heap. The line pruner needs room for a full store, for the requests in progress and as much
// again for the work on them, and for recovered texts.
func (o overHTTP) boundMemory(p command.Process, c settings.Settings) {
	limit := int64(sharedMemoryLimit)
	if o.form == assemble.Pruner {
		limit = prunerMemoryLimit + c.RecoveryMaxBytes
	}
	command.BoundMemory(p.Lookup, limit)
}

// withoutRoot takes read, bash and grep from a server that others than this machine reach, because nobody named the folder
// that they may see. It fails if nothing is left.
func (o overHTTP) withoutRoot(c *settings.Settings) error {
	if !c.Access.Beyond() || o.form == assemble.Pruner || o.other != nil {
		return nil
	}
	c.Toolsets = slices.DeleteFunc(slices.Clone(c.Toolsets), func(set string) bool { return set == "core" })
	if len(c.Toolsets) == 0 {
		return errors.New("beyond loopback read, bash and grep are offered only with --root, which names the folder that callers may see")
	}
	return nil
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
