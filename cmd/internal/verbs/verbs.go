// Package verbs implements the command line of mcp-pruner: the tree of its verbs, one line for each, and the server
// that runs without a verb.
package verbs

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/hook"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/proxy"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/verbs/contextcmd"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/verbs/fsmcmd"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/verbs/gaincmd"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/verbs/gccmd"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/verbs/initcmd"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/verbs/keyscmd"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/verbs/prunecmd"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/verbs/recovercmd"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/verbs/replaycmd"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/verbs/runcmd"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/verbs/storecmd"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/verbs/tracecmd"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/verbs/viewcmd"
)

const (
	servers = "servers"
	clients = "clients"
	insight = "insight"
)

// Root returns the tree of commands. Man pages and completions are generated from it.
func Root(p command.Process) *cobra.Command {
	root := stdioCommand(p)
	root.AddGroup(
		&cobra.Group{ID: servers, Title: "Serve and prune:"},
		&cobra.Group{ID: clients, Title: "Set up and run clients:"},
		&cobra.Group{ID: insight, Title: "Look into it:"},
	)
	group(root, servers, httpCommand(p), gatewayCommand(p), proxy.Command(p, buildVersion()), prunerCommand(p), keyscmd.Command(p), healthCommand(p), prunecmd.Command(p))
	group(root, clients, runcmd.RunCommand(p, buildVersion()), runcmd.ConfigCommand(p), runcmd.InstallCommand(p),
		initcmd.Command(p), hook.Command(p), hook.PauseCommand(p), recovercmd.Command(p), gaincmd.Command(p), gaincmd.StatusCommand(p),
		initcmd.UninstallCommand(p, uninstallFirst(p), uninstallLast(p)))
	group(root, insight, viewcmd.Command(p), contextcmd.Command(p), demoCommand(p), doctorCommand(p), tracecmd.Command(p), replaycmd.Command(p), replaycmd.TryCommand(p),
		gccmd.Command(p, buildVersion()), storecmd.Command(p), fsmcmd.Command(p), versionCommand(p))
	root.AddCommand(runcmd.KeepCommand(p))
	command.Completions(root)
	return root
}

// group adds verbs under a common heading of the help.
func group(root *cobra.Command, id string, verbs ...*cobra.Command) {
	for _, v := range verbs {
		v.GroupID = id
	}
	root.AddCommand(verbs...)
}

// Run runs the verb that the arguments name and returns the exit code.
func Run(p command.Process) int { return execute(Root, p) }

// RunHTTP runs the HTTP server as a program of its own and returns the exit code.
func RunHTTP(p command.Process) int {
	return execute(func(p command.Process) *cobra.Command {
		serve := httpCommand(p)
		serve.Use = strings.Replace(serve.Use, "serve", "jeeves-mcp-pruner", 1)
		return serve
	}, p)
}

func execute(tree func(command.Process) *cobra.Command, p command.Process) int {
	ctx, hurry, stop := command.Signals(context.Background(), endSignals()...)
	defer stop()
	surviveClosedPipes()
	p.Hurry = hurry
	return command.Execute(ctx, tree(p), p)
}
