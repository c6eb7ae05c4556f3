package verbs

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/verbs/initcmd"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/verbs/runcmd"
	"github.com/mcp-pruner/mcp-pruner/runnerfsm/inject"
	"github.com/mcp-pruner/mcp-pruner/runnerfsm/setup"
	"github.com/mcp-pruner/mcp-pruner/runnerfsm/setup/entry"
	"github.com/mcp-pruner/mcp-pruner/runnerfsm/setup/wrap"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

// uninstallFirst returns what switches on again what context switched off in files that nobody has changed since, and ends the proxy.
func uninstallFirst(p command.Process) func(c *cobra.Command, w io.Writer) error {
	return func(c *cobra.Command, w io.Writer) error {
		return errors.Join(undoContext(p, w, true), initcmd.StopProxies(c.Context(), p, w, initcmd.AllProxied(p)))
	}
}

// uninstallLast switches on again what context had switched off before init changed the same file, whose bytes are back now, and takes
// out the servers that earlier versions added with the clients' own commands.
func uninstallLast(p command.Process) func(c *cobra.Command, w io.Writer) error {
	return func(c *cobra.Command, w io.Writer) error {
		failed := undoContext(p, w, false)
		for _, client := range wrap.Clients() {
			if l, err := serversOf(p, client); err == nil { // init says which files cannot be found
				failed = errors.Join(failed, unwrap(w, l, false))
			}
		}
		dir, err := os.Getwd()
		if err != nil {
			return errors.Join(failed, err)
		}
		for _, e := range entry.All(setup.Home{Lookup: p.Lookup}, dir) {
			line := slices.Clone(agent.Named(e.Client).RemovesServer)
			if line == nil || e.Err != nil || e.Scope == "project" || e.Name != inject.ServerName || !e.Starts() {
				continue
			}
			if e.Scope != "" {
				line = append(line, "--scope", e.Scope)
			}
			line = append(line, e.Name)
			_, _ = fmt.Fprintf(w, "%s has a server that an earlier version added. Running: %s\n", agent.Named(e.Client).Title, strings.Join(line, " "))
			if err := runcmd.RunClient(c.Context(), line, p); err != nil {
				failed = errors.Join(failed, fmt.Errorf("%s did not take the server out: %w", e.Client, err))
			}
		}
		return failed
	}
}
