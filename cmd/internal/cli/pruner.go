package cli

import (
	"runtime"

	"github.com/spf13/cobra"

	"mcp-pruner/cmd/internal/command"
	"mcp-pruner/cmd/internal/eventlog"
	"mcp-pruner/cmd/internal/settings"
)

// prunerCommand is the verb pruner.
func prunerCommand(p command.Process) *cobra.Command {
	format := eventlog.JSON
	c := &cobra.Command{
		Use:   "pruner",
		Short: "Serve prune_text, recover_text and POST /prune over HTTP on this machine",
		Long: `Serves the line pruner over HTTP on this machine: POST /mcp (prune_text and
recover_text over MCP), POST /rpc (the same and health, in the line pruner's own
contract), POST /prune (the swe-pruner contract) and GET /health. Port 0 takes any
free one; the event mcp_pruner.ready on standard error names it.

Settings come from the environment; docs/LINE-PRUNER.md describes them.`,
		Example: `  mcp-pruner pruner
  mcp-pruner pruner --port 8000      # where PRUNER_URL points by default
  curl -s http://127.0.0.1:8006/health`,
		Args: command.NoArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			defer spareThreads(p)()
			return command.Exit(overHTTP{}.serve(c.Context(), p, given(c, settings.Pruner), format))
		},
	}
	c.Flags().Var(command.Choice(&format, eventlog.JSON, eventlog.Text), "log-format", "of the events on standard error")
	addFlags(c, settings.Pruner)
	return command.EndsItself(c)
}

// spare is how many more threads than processors run Go.
const spare = 2

// spareThreads lets more threads run Go than there are processors, unless GOMAXPROCS
// says how many, and returns what undoes that. Go puts a goroutine that wakes after
// those that are ready to run; the system lets a thread that wakes run at once. So the
// thread that answers /health does not wait for large texts.
func spareThreads(p command.Process) (undo func()) {
	if set, _ := p.Lookup("GOMAXPROCS"); set != "" {
		return func() {}
	}
	before := runtime.GOMAXPROCS(0)
	runtime.GOMAXPROCS(before + spare)
	return func() { runtime.GOMAXPROCS(before) }
}
