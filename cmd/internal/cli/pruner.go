package cli

import (
	"github.com/spf13/cobra"

	"mcp-pruner/cmd/internal/command"
	"mcp-pruner/cmd/internal/prunerservice"
)

// prunerCommand is the verb pruner.
func prunerCommand(p command.Process) *cobra.Command {
	return command.EndsItself(&cobra.Command{
		Use:                "pruner",
		Short:              "Serve prune_text, recover_text and POST /prune over HTTP on this machine",
		DisableFlagParsing: true,
		RunE: func(c *cobra.Command, args []string) error {
			return command.Exit(prunerservice.Run(c.Context(), buildVersion(), args, p.Env, p.Stdout, p.Stderr))
		},
	})
}
