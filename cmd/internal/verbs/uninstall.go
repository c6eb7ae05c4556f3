package verbs

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/proxy"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/verbs/contextcmd"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/verbs/initcmd"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/verbs/runcmd"
	"github.com/mcp-pruner/mcp-pruner/runnerfsm/setup"
	"github.com/mcp-pruner/mcp-pruner/runnerfsm/setup/entry"
	"github.com/mcp-pruner/mcp-pruner/runnerfsm/setup/secret"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

// uninstallLast switches on again what context had switched off before init changed the same file, whose bytes are back now.
func uninstallLast(p command.Process) func(w io.Writer) error {
	return func(w io.Writer) error { return contextcmd.UndoAll(p, w, false) }
}

// uninstallFirst returns what switches on again what context switched off in files that nobody has changed since, ends the proxy, and
// takes out the servers that the clients' own commands have added.
func uninstallFirst(p command.Process) func(c *cobra.Command, w io.Writer) error {
	return func(c *cobra.Command, w io.Writer) error {
		failed := errors.Join(contextcmd.UndoAll(p, w, true), stopProxies(c, p, w))
		dir, err := os.Getwd()
		if err != nil {
			return errors.Join(failed, err)
		}
		for _, client := range agent.With(func(c *agent.Client) bool { return c.Install != nil }) {
			ours := func(e entry.Entry) bool { return e.Err == nil && e.Starts() }
			if !slices.ContainsFunc(entry.Of(client.Name, setup.Home{Lookup: p.Lookup}, dir), ours) {
				continue
			}
			_, _ = fmt.Fprintf(w, "%s: the server that install added\n", client.Title)
			install := p
			install.Args = []string{client.Name, "--uninstall"}
			if code := command.Verb(c.Context(), runcmd.InstallCommand(install), install); code != command.OK {
				failed = errors.Join(failed, fmt.Errorf("\"mcp-pruner install %s --uninstall\" did not take the server out", client.Name))
			}
		}
		return failed
	}
}

// stopProxies ends the proxies to which init sent clients, which hooks or a service of the user's session started.
func stopProxies(c *cobra.Command, p command.Process, w io.Writer) (failed error) {
	clients := initcmd.AllProxied(p)
	if len(clients) == 0 {
		return nil
	}
	key, err := secret.LoadProof(p.Lookup) // it makes one if there is none
	if err != nil {
		return err
	}
	stopped := map[string]bool{}
	for _, client := range clients {
		if stopped[client.Address] {
			continue
		}
		stopped[client.Address] = true
		switch err := proxy.Stop(c.Context(), client.Address, key); {
		case err == nil:
			_, _ = fmt.Fprintf(w, "the proxy at %s has ended; a session that uses it has to be started again\n", client.Address)
		case proxy.Taken(err):
			_, _ = fmt.Fprintf(w, "%v, and goes on\n", err)
		case !proxy.NotRunning(err):
			failed = errors.Join(failed, fmt.Errorf("the proxy at %s goes on: %w", client.Address, err))
		}
	}
	return failed
}
