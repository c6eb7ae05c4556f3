package hook

import (
	"github.com/spf13/cobra"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
)

// Command returns the verb hook.
func Command(p command.Process) *cobra.Command {
	var replaceErrors bool
	c := &cobra.Command{
		Use:   "hook claude|codex|gemini|opencode",
		Short: "Prune the result of a client's own tool (clients run this)",
		Long: `Reads a client's message about a tool that has run from the standard input and may
answer with a shorter result. On any fault it prints nothing and the exit status is 0:
the result stays as it was. "mcp-pruner init CLIENT" sets it up.`,
		Args: command.OneArgument("CLIENT"),
		RunE: func(c *cobra.Command, args []string) error {
			client, ok := find(args[0], replaceErrors)
			if !ok {
				return command.Usagef("unknown client %q: want claude, codex, gemini or opencode", args[0])
			}
			Run(c.Context(), client, p.Lookup, p.Stdin, p.Stdout)
			return nil
		},
	}
	c.Flags().BoolVar(&replaceErrors, "replace", false, "gemini: replace results although its model then sees them as errors")
	return c
}
