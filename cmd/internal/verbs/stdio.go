package verbs

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/assemble"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/mcp/stdio"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/settings"
	"github.com/mcp-pruner/mcp-pruner/fsm"
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
		Long: `Sends coding agents what matters of a tool's output, and keeps the rest one call away.
Start with "mcp-pruner try", which says what would have paid in your own sessions and
changes nothing, and "mcp-pruner init", which sets it up in your clients.

Without a command it is an MCP server on standard input and output: read, bash and
grep, pruned to the question an agent asks with the call. docs/CONFIG.md describes its
settings, "mcp-pruner doctor --verbose" lists those in force.`,
		Example:                    `  set -o pipefail; go test ./... 2>&1 | mcp-pruner prune -q "which test failed and why"`,
		SuggestionsMinimumDistance: 2,
	}
	c.Args = func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		message := fmt.Sprintf("there is no command %q", args[0])
		near := c.SuggestionsFor(args[0])
		if i := slices.IndexFunc(c.Commands(), func(m *cobra.Command) bool { return slices.Contains(m.SuggestFor, args[0]) }); i >= 0 {
			near = []string{c.Commands()[i].Name()}
		}
		if len(near) > 0 {
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

// offer opens the tools that a server offers instead of its own; nil: it has its own.
type offer = func(emit func(fsm.Event)) (*assemble.Offer, error)

// serveStdio serves the program's own tools or a gateway's over standard input and output.
func serveStdio(ctx context.Context, p command.Process, other offer) int {
	started := time.Now()
	command.BoundMemory(p.Lookup, memoryLimit)
	config, _, err := settings.Load(settings.Stdio, nil, settings.FromEnv(p.Env))
	logs := fsm.NewEventLog(p.Stderr, fsm.Level(config.LogLevel)).InRun(config.RunID)
	defer logs.Close(flushWithin)
	emit := logs.Emit
	var parts assemble.Parts
	if err == nil {
		parts, err = assemble.Make(ctx, assemble.Stdio, assemble.Options{Settings: config, Env: p.Env, Version: buildVersion(), Emit: emit, Sync: logs.Sync, Offer: other})
		if err == nil {
			defer parts.Close()
		}
	}
	if err != nil {
		return startFailed(p, emit, err)
	}
	reportStrays(p.Env, emit)
	emit(fsm.NewEvent("mcp_pruner.ready", "", fsm.Facts{"root": config.Root}))
	graceful := stdio.Serve(ctx, parts.Server, p.Stdin, p.Stdout)
	emit(fsm.NewEvent("mcp_pruner.stopped", "", fsm.Facts{
		"graceful": graceful, "duration_ms": time.Since(started).Milliseconds(),
	}))
	return command.OK
}

// startFailed says why a server does not start: on a terminal in words, else as an event of the log. It returns the exit code.
func startFailed(p command.Process, emit func(fsm.Event), err error) int {
	if command.IsTerminal(p.Stderr) {
		_, _ = fmt.Fprintf(p.Stderr, "%s: %v\n", command.Program, err)
	} else {
		emit(fsm.NewEvent("mcp_pruner.start_failed", "", fsm.Facts{"message": oneLine(err)}))
	}
	return command.Usage
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
