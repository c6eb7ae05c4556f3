// Package contextcmd implements the verb context.
package contextcmd

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/prefix/capture"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/prefix/parts"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

// options are the checked command-line options.
type options struct {
	command.Process
	capture.Project
	json      bool
	from      string
	save      string
	noServers bool
	trust     bool
	off       bool
	back      bool
	own       bool
	names     []string // of what is switched off
}

const help = `Starts the client once, headless, in this folder with your own configuration, and with a
stand-in on this machine in place of its model's API. Shows the parts of the request with
which every session begins, how many of your sessions of the last 90 days used each, and
what could go. --apply switches that off by the client's own settings, measures again, and
takes back what had no effect; --undo restores the settings. No model is asked, no token is spent, and the session leaves nothing in your
history. The client's MCP servers and session hooks do start, as at any start; they are
named before. docs/CONTEXT.md explains the table.`

// Command returns the verb context.
func Command(p command.Process) *cobra.Command {
	o := options{Process: p}
	names := agent.Names(Clients())
	c := &cobra.Command{
		Use:   "context CLIENT [--apply [NAME...]]",
		Short: "Show what a client sends before your first word, and what of it you never use",
		Long:  help,
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

// check refuses options that do not go together.
func (o options) check() error {
	switch {
	case len(o.names) > 0 && !o.off:
		return command.Usagef("%q is a name for --apply", o.names[0])
	case o.off && o.back:
		return command.Usagef("--apply or --undo?")
	case o.off && o.from != "":
		return command.Usagef("--apply measures before and after; leave out --from")
	case o.off && o.noServers:
		return command.Usagef("--apply measures what a session would have; leave out --no-servers")
	}
	return nil
}

// Clients are the clients whose prefix can be shown.
func Clients() []*agent.Client {
	return agent.With(func(c *agent.Client) bool { return c.Prefix != nil })
}

func (o options) run(ctx context.Context) error {
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
		return report.writeJSON(o.Stdout)
	}
	return report.writeText(o.Stdout)
}

// seen is a prefix with the client's version.
type seen struct {
	parts.Prefix
	version  string
	complete bool
}

// look returns the prefix of a recorded request, or of one that the client is started for.
func (o options) look(ctx context.Context) (seen, error) {
	if o.from != "" {
		request, err := recorded(o.Stdin, o.from)
		if err != nil {
			return seen{}, err
		}
		p, err := parts.Of(o.Client, request, o.Servers(), "")
		return seen{p, "", true}, err
	}
	if err := o.Reachable(); err != nil {
		return seen{}, err
	}
	if !o.trust {
		if err := o.Trusted(); err != nil {
			return seen{}, err
		}
	}
	return o.start(ctx)
}

// start starts the client after it said what else that starts.
func (o options) start(ctx context.Context) (seen, error) {
	self, err := os.Executable()
	if err != nil {
		return seen{}, err
	}
	starts := o.Starts()
	if o.noServers {
		starts += "; but no MCP server"
	}
	fmt.Fprintf(o.Stderr, "starting %s once in %s, with %s; no model is asked\n", o.Client.Title, o.Folder, starts)
	got, err := capture.Run(ctx, capture.Options{
		Client: o.Client, Folder: o.Folder, Env: o.Env, Keeper: []string{self, "keep"}, NoServers: o.noServers,
	})
	if err != nil {
		return seen{}, err
	}
	if o.save != "" {
		if err := got.Request.Save(o.save); err != nil {
			return seen{}, err
		}
	}
	p, err := parts.Of(o.Client, got.Request, o.Servers(), got.Prompt)
	return seen{p, got.Version, got.Complete}, err
}

func recorded(stdin io.Reader, path string) (parts.Request, error) {
	read := func() ([]byte, error) { return os.ReadFile(path) }
	if path == "-" {
		read = func() ([]byte, error) { return io.ReadAll(stdin) }
	}
	text, err := read()
	if err != nil {
		return parts.Request{}, err
	}
	request, err := parts.Recorded(text)
	if err != nil {
		return parts.Request{}, fmt.Errorf("%s: %w", path, err)
	}
	return request, nil
}
