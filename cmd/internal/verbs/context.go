package verbs

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

const contextHelp = `Starts the client once, headless, in this folder with your own configuration, and with a
stand-in on this machine in place of its model's API. Shows the parts of the request with
which every session begins, how many of your sessions of the last 90 days used each, and
what could go. --apply switches that off by the client's own settings, measures again, and
takes back what had no effect; --undo restores the settings. No model is asked, no token is spent, and the session leaves nothing in your
history. The client's MCP servers and session hooks do start, as at any start; they are
named before. docs/CONTEXT.md explains the table.`

func contextCommand(p command.Process) *cobra.Command {
	o := contextOptions{Process: p}
	names := agent.Names(contextClients())
	c := &cobra.Command{
		Use:   "context CLIENT [--apply [NAME...]]",
		Short: "Show what a client sends before your first word, and what of it you never use",
		Long:  contextHelp,
		Example: `  mcp-pruner context claude
  mcp-pruner context codex --json --no-servers
  mcp-pruner context claude --apply
  mcp-pruner context claude --apply Workflow notes
  mcp-pruner context claude --undo`,
		ValidArgs: names,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return command.Usagef("which client? %s", command.Or(names))
			}
			if o.Client = agent.Named(args[0]); o.Client.Prefix == nil {
				return command.Usagef("the client %q is not one of %s", args[0], strings.Join(names, ", "))
			}
			o.names = args[1:]
			return o.check()
		},
		RunE: func(c *cobra.Command, _ []string) error {
			folder, err := os.Getwd()
			if err != nil {
				return err
			}
			if o.Folder, err = filepath.EvalSymlinks(folder); err != nil {
				return err
			}
			o.Project.Lookup = p.Lookup
			return o.run(c.Context())
		},
	}
	f := c.Flags()
	f.BoolVar(&o.json, "json", false, "print one JSON value")
	f.StringVar(&o.from, "from", "", "take the recorded request in this file and start nothing; - is the standard input")
	f.StringVar(&o.save, "save", "", "write the recorded request to this new file, which only you can read")
	f.BoolVar(&o.noServers, "no-servers", false, "start no MCP server")
	f.BoolVar(&o.trust, "trust", false, "start the client although it has not been told to trust this folder")
	f.BoolVar(&o.off, "apply", false, "switch off what could go, or what NAME names, in your own settings, and measure again")
	f.BoolVar(&o.back, "undo", false, "switch on again what --apply switched off")
	f.BoolVar(&o.own, "project", false, "count this project's sessions only, and change the project's settings that are yours alone")
	return command.EndsItself(c)
}

// applyContext is context CLIENT --apply. It returns the exit code.
func applyContext(ctx context.Context, p command.Process, client string) int {
	p.Args = []string{client, "--apply"}
	return command.Verb(ctx, contextCommand(p), p)
}

// contextClients are the clients whose prefix can be shown.
func contextClients() []*agent.Client {
	return agent.With(func(c *agent.Client) bool { return c.Prefix != nil })
}

func (o contextOptions) run(ctx context.Context) error {
	if o.back {
		return o.undo()
	}
	seen, err := o.look(ctx)
	if err != nil {
		return err
	}
	report, err := o.report(ctx, seen)
	if err != nil {
		return err
	}
	if o.off {
		if err := o.apply(ctx, report); err != nil {
			return err
		}
	}
	if o.from == "" {
		if err := report.keep(o.Project.Lookup); err != nil {
			fmt.Fprintf(o.Stderr, "the report is not kept for mcp-pruner view: %v\n", err)
		}
	}
	if o.json {
		return writeJSON(o.Stdout, report, false)
	}
	return report.writeText(o.Stdout)
}
