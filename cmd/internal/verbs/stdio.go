package verbs

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/assemble"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/mcp/mcpserver"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/mcp/stdio"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/settings"
	"github.com/mcp-pruner/mcp-pruner/fsm"
	"github.com/mcp-pruner/mcp-pruner/tools"
)

// flushWithin is how long the process waits at its end until the rest of the log is read.
const flushWithin = 500 * time.Millisecond

// memoryLimit is the soft limit in bytes from which the garbage collector runs as often as usual: a huge output must not
// make the heap several times its size.
const memoryLimit = 80 << 20

// stdioCommand returns the command for the program without a verb.
func stdioCommand(p command.Process) *cobra.Command {
	var showVersion bool
	c := &cobra.Command{
		Use:   command.Program,
		Short: "Serve read, bash and grep over MCP, pruned to an agent's question",
		Long: `mcp-pruner serves MCP over standard input and output: read, bash and grep, whose
output is pruned to the question an agent asks with the call. With a command it does
one of the things below.

Settings come from the environment: "mcp-pruner doctor" lists those in force, and
docs/CONFIG.md describes them.`,
		Example: `  claude mcp add pruner -e PRUNER_URL=embedded -- mcp-pruner
  codex mcp add pruner --env PRUNER_URL=embedded -- mcp-pruner
  set -o pipefail; go test ./... 2>&1 | mcp-pruner prune -q "which test failed and why"`,
		SuggestionsMinimumDistance: 2,
	}
	c.Args = func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		message := fmt.Sprintf("there is no command %q", args[0])
		if near := c.SuggestionsFor(args[0]); len(near) > 0 {
			message += fmt.Sprintf("; did you mean %s?", command.Or(near))
		}
		return command.Usagef("%s", message)
	}
	c.Flags().BoolVarP(&showVersion, "version", "v", false, "print the version")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if showVersion {
			_, err := fmt.Fprintln(p.Stdout, versionLine())
			return err
		}
		if command.IsTerminal(p.Stdin) && command.IsTerminal(p.Stderr) { // a person is there; a log that goes elsewhere stays JSON lines
			fmt.Fprintln(p.Stderr, "mcp-pruner waits for an MCP client on standard input. Ctrl+C ends it; mcp-pruner --help lists the commands.")
		}
		return command.Exit(serveStdio(c.Context(), p, nil))
	}
	return command.EndsItself(c)
}

// offer opens the tools that a server offers instead of its own.
type offer func(emit func(fsm.Event)) (*offered, error)

// offered is a list of tools that depends on the client and may change.
type offered struct {
	list     func(client string) []tools.Tool
	instruct func(client string) string
	notified func(client *mcpserver.Caller, method string, params json.RawMessage) (told bool)
	features *mcpserver.Features                 // what goes with the list
	prunes   bool                                // some of its results are pruned, by the embedded pruner if no other is set
	tell     func(changed func(lists ...string)) // sets the function that is called when lists change
	close    func()
}

// in adds the tools to the options of a server.
func (o *offered) in(options *assemble.Options) {
	if o != nil {
		options.List, options.Instruct, options.Notified, options.Features = o.list, o.instruct, o.notified, o.features
		options.Settings.AlwaysLoad = false                              // a client that loads tools on demand keeps doing so
		options.MaxEach = options.Settings.MaxCalls / mcpserver.EachPart // a server that hangs leaves slots for the others
		options.Recovers = o.prunes
		if o.prunes && !namesPruner(options.Env) {
			options.Settings.PrunerURL = settings.Embedded
		}
	}
}

// namesPruner reports whether the environment names a pruner.
func namesPruner(env []string) bool {
	lookup := settings.FromEnv(env)
	for _, name := range []string{"PRUNER_URL", "JEEVES_PRUNER_ENDPOINT"} {
		if value, set := lookup(name); set && value != "" {
			return true
		}
	}
	return false
}

// servedBy notifies the server when the list changes, until the returned function is called.
func (o *offered) servedBy(server *mcpserver.Server) (end func()) {
	if o == nil {
		return func() {}
	}
	o.tell(server.ListChanged)
	return o.close
}

// openOffer opens the offer. It returns nil if there is none; the program then offers its own tools.
func openOffer(o offer, emit func(fsm.Event)) (*offered, error) {
	if o == nil {
		return nil, nil
	}
	return o(emit)
}

// serveStdio serves the program's own tools or a gateway's over standard input and output.
func serveStdio(ctx context.Context, p command.Process, other offer) int {
	started := time.Now()
	command.BoundMemory(p.Lookup, memoryLimit)
	config, _, err := settings.Load(settings.Stdio, nil, settings.FromEnv(p.Env))
	logs := fsm.NewEventLog(p.Stderr, fsm.Level(config.LogLevel)).InRun(config.RunID)
	defer logs.Close(flushWithin)
	emit := logs.Emit
	var server *mcpserver.Server
	var tools *offered
	if err == nil {
		tools, err = openOffer(other, emit)
	}
	if err == nil {
		options := assemble.Options{Settings: config, Env: p.Env, Version: buildVersion(), Emit: emit, Sync: logs.Sync, Transport: "stdio", Table: fsm.RequestTable()}
		tools.in(&options)
		server, err = assemble.Server(options)
	}
	if err != nil {
		emit(fsm.NewEvent("mcp_pruner.start_failed", "", fsm.Facts{"message": oneLine(err)}))
		return command.Usage
	}
	reportStrays(p.Env, emit)
	emit(fsm.NewEvent("mcp_pruner.ready", "", fsm.Facts{"root": config.Root}))
	defer tools.servedBy(server)()
	graceful := stdio.Serve(ctx, server, p.Stdin, p.Stdout)
	emit(fsm.NewEvent("mcp_pruner.stopped", "", fsm.Facts{
		"graceful": graceful, "duration_ms": time.Since(started).Milliseconds(),
	}))
	return command.OK
}

// reportStrays logs every variable that looks like a setting and is not one.
func reportStrays(env []string, emit func(fsm.Event)) {
	for _, stray := range settings.Unknown(env) {
		facts := fsm.Facts{"name": stray.Name}
		if stray.Intended != "" {
			facts["intended"] = stray.Intended
		}
		emit(fsm.NewEvent("mcp_pruner.setting_unknown", "", facts))
	}
}

// oneLine returns joined errors as one line, for the log.
func oneLine(err error) string { return strings.ReplaceAll(err.Error(), "\n", "; ") }
