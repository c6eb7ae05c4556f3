package verbs

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/verbs/runcmd"
	"github.com/mcp-pruner/mcp-pruner/runnerfsm/setup"
	"github.com/mcp-pruner/mcp-pruner/runnerfsm/setup/entry"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

// uninstallMore returns what takes out the servers that the clients' own commands have added.
func uninstallMore(p command.Process) func(c *cobra.Command, w io.Writer) error {
	return func(c *cobra.Command, w io.Writer) error {
		dir, err := os.Getwd()
		if err != nil {
			return err
		}
		var failed error
		for _, client := range agent.With(func(c *agent.Client) bool { return c.Install != nil }) {
			ours := func(e entry.Entry) bool { return e.Err == nil && e.Ours() }
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
