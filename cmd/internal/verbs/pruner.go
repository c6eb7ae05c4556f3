package verbs

import (
	"runtime"

	"github.com/spf13/cobra"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/assemble"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/settings"
	"github.com/mcp-pruner/mcp-pruner/fsm"
)

func prunerCommand(p command.Process) *cobra.Command {
	format := fsm.LogJSON
	c := &cobra.Command{
		Use:   "pruner",
		Short: "Serve prune_text, recover_text and POST /prune over HTTP on this machine",
		Long: `Serves the line pruner over HTTP on this machine: POST /mcp (prune_text and
recover_text over MCP), POST /rpc (the same and health, in the line pruner's own
contract), POST /prune (the swe-pruner contract) and GET /health. Port 0 takes any
free one; the event mcp_pruner.ready on standard error names it.

Settings come from the environment; docs/CONFIG.md lists them.`,
		Example: `  mcp-pruner pruner
  mcp-pruner pruner --port 8000      # where PRUNER_URL points by default
  curl -s http://127.0.0.1:8006/health`,
		Args: command.NoArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			defer spareThreads(p)()
			return command.Exit(overHTTP{door: "pruner", form: assemble.Pruner}.serve(c.Context(), p, settings.Given(c.Flags(), settings.Pruner), format))
		},
	}
	c.Flags().Var(command.Choice(&format, fsm.LogJSON, fsm.LogText), "log-format", "of the events on standard error")
	settings.AddFlags(c.Flags(), settings.Pruner)
	return command.EndsItself(c)
}

// spare is the number of threads that run Go code in addition to one for each processor.
const spare = 2

// spareThreads lets more threads run Go code than there are processors, unless GOMAXPROCS is set, and returns a
// function that undoes this. Go puts a goroutine that wakes up behind all that are ready to run, but the operating
// system runs a thread that wakes up at once. So /health is answered without waiting for large texts.
func spareThreads(p command.Process) (undo func()) {
	if set, _ := p.Lookup("GOMAXPROCS"); set != "" {
		return func() {}
	}
	before := runtime.GOMAXPROCS(0)
	runtime.GOMAXPROCS(before + spare)
	return func() { runtime.GOMAXPROCS(before) }
}
