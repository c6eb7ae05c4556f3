package runcmd

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"mcp-pruner/cmd/internal/command"
)

// RunCommand is the verb run. Options that are not its own are the client's, so it
// reads its arguments itself.
func RunCommand(p command.Process, version string) *cobra.Command {
	return command.EndsItself(raw(p, "run", "Run claude or codex with the server injected", runUsage, Program{Version: version}.Run))
}

// ConfigCommand is the verb config.
func ConfigCommand(p command.Process) *cobra.Command {
	return raw(p, "config", "Print what run would inject, to wire it by hand", configUsage, Config)
}

// InstallCommand is the verb install. It passes options on to the client's command.
func InstallCommand(p command.Process) *cobra.Command {
	return command.EndsItself(raw(p, "install", "Add the server to claude's or codex's own configuration", installUsage, Install))
}

// KeepCommand is the verb keep, which stands between run and the client.
func KeepCommand(p command.Process) *cobra.Command {
	c := command.EndsItself(raw(p, "keep", "Used by run", "", Keep))
	c.Hidden = true
	return c
}

// raw is a verb that reads its arguments itself. Its help is its usage, which man pages
// show too.
func raw(p command.Process, name, short, usage string, run func(context.Context, []string, []string, io.Reader, io.Writer, io.Writer) int) *cobra.Command {
	return &cobra.Command{
		Use: name, Short: short, Long: usage, DisableFlagParsing: true,
		RunE: func(c *cobra.Command, args []string) error {
			return command.Exit(run(c.Context(), args, p.Env, p.Stdin, p.Stdout, p.Stderr))
		},
	}
}
