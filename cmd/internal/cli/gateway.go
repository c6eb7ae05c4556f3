package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"mcp-pruner/cmd/internal/command"
	"mcp-pruner/cmd/internal/gateway"
	"mcp-pruner/fsm/event"
	"mcp-pruner/tools/upstream"
)

// How long the verbs wait for upstream servers.
const (
	upstreamsWithin = 60 * time.Second // list and --report: npx may download a package first
	serveWithin     = 20 * time.Second // a client that asks for the first list
)

// gatewayFlags are the flags that the gateway's verbs share.
type gatewayFlags struct {
	mode    string
	splitRW bool
	target  command.Fraction
	mapFile string
	freeze  string
}

func (f *gatewayFlags) add(c *cobra.Command) {
	f.mode, f.target = gateway.Auto, upstream.DefaultTarget
	flags := c.Flags()
	flags.Var(command.Choice(&f.mode, gateway.Auto, gateway.Group, gateway.Trim), "mode",
		"few tools with actions, the same tools with less text, or by client")
	flags.BoolVar(&f.splitRW, "split-rw", false, "put what only reads in tools of its own")
	flags.Var(&f.target, "target", "share of the list's tokens that has to go, at most; less keeps more prose")
	flags.StringVar(&f.mapFile, "map", "", "file that says how tools are grouped, pinned, hidden and renamed")
	flags.StringVar(&f.freeze, "freeze", "", "file that keeps the grouping when servers add tools; made when missing")
}

// gatewayCommand is the verb gateway.
func gatewayCommand(p command.Process) *cobra.Command {
	var f gatewayFlags
	var overHTTP, report, asJSON bool
	c := &cobra.Command{
		Use:   "gateway [flags] CONFIG",
		Short: "Serve the tools of other MCP servers in fewer tokens",
		Long: `Starts the MCP servers of CONFIG, a file with {"mcpServers": {...}} as clients use
it, and serves their tools: as a few tools with an action parameter, or, for clients
that search tools themselves, under their own names with less text. Calls, results,
errors, progress and questions to the client pass through.

docs/GATEWAY.md has the forms, the mapping file, and when not to use it.`,
		Example: `  mcp-pruner gateway --report servers.json
  claude mcp add all -- mcp-pruner gateway servers.json
  mcp-pruner gateway --http --port 8010 servers.json`,
		Args: command.OneArgument("CONFIG"),
		RunE: func(c *cobra.Command, args []string) error {
			switch {
			case report:
				return f.report(c.Context(), p, args[0], asJSON)
			case overHTTP:
				return f.serve(c.Context(), p, args[0], given(c, httpProgram))
			}
			return f.serve(c.Context(), p, args[0], nil)
		},
	}
	f.add(c)
	c.Flags().BoolVar(&overHTTP, "http", false, "serve over HTTP, as the verb serve does")
	c.Flags().BoolVar(&report, "report", false, "print bytes and tokens before and after, and end")
	c.Flags().BoolVar(&asJSON, "json", false, "the report as JSON")
	addFlags(c, httpProgram)
	c.AddCommand(gatewayListCommand(p))
	return command.EndsItself(c)
}
