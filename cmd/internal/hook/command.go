package hook

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

// Command returns the verb hook.
func Command(p command.Process) *cobra.Command {
	var replaceErrors, keep bool
	var only, except []string
	names := agent.Names(agent.With(func(c *agent.Client) bool { return c.Hooks != nil }))
	c := &cobra.Command{
		Use:   "hook " + strings.Join(names, "|"),
		Short: "Prune the result of a client's own tool (clients run this)",
		Long: `Reads a client's message about a tool that has run from the standard input and may
answer with a shorter result. On any fault it prints nothing and the exit status is 0:
the result stays as it was. "mcp-pruner init CLIENT" sets it up.`,
		Args: command.OneArgument("CLIENT"),
		RunE: func(c *cobra.Command, args []string) error {
			client := agent.Named(args[0])
			if client.Hooks == nil {
				return command.Usagef("unknown client %q: want %s", args[0], command.Or(names))
			}
			if client.Hooks.AsErrors && !replaceErrors {
				client = unconcerned(client)
			}
			if keep {
				Keep(client, p.Lookup, p.Stdout)
				return nil
			}
			command.BoundBriefly(p.Lookup)
			Run(c.Context(), client, Tools{Only: only, Except: except}, p.Lookup, p.Stdin, p.Stdout)
			return nil
		},
	}
	asErrors := agent.Names(agent.With(func(c *agent.Client) bool { return c.Hooks != nil && c.Hooks.AsErrors }))
	c.Flags().BoolVar(&replaceErrors, "replace", false, strings.Join(asErrors, ", ")+": replace results although its model then sees them as errors")
	c.Flags().StringSliceVar(&only, "only", nil, "replace only the results of these tools and MCP servers")
	c.Flags().StringSliceVar(&except, "except", nil, "leave the results of these tools and MCP servers whole")
	c.Flags().BoolVar(&keep, "keep", false, "keep the output of a command that has just failed (shells of Claude Code run this)")
	return c
}

// unconcerned returns a client all of whose messages are read and leave the result as it is.
func unconcerned(c *agent.Client) *agent.Client {
	hooks := *c.Hooks
	hooks.Read = func(agent.Message, func(string) string) (agent.Call, agent.Occasion) {
		return agent.Call{}, agent.Unconcerned
	}
	quiet := *c
	quiet.Hooks = &hooks
	return &quiet
}
