package verbs

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/prefix/change"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/verbs/contextcmd"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/verbs/runcmd"
	"github.com/mcp-pruner/mcp-pruner/runnerfsm/setup"
	"github.com/mcp-pruner/mcp-pruner/runnerfsm/setup/entry"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
	"github.com/mcp-pruner/mcp-pruner/tools/statedir"
)

// uninstallMore returns what switches on again what context switched off, and takes out the servers that the clients' own
// commands have added.
func uninstallMore(p command.Process) func(c *cobra.Command, w io.Writer) error {
	return func(c *cobra.Command, w io.Writer) error {
		failed := undoContext(c, p, w)
		dir, err := os.Getwd()
		if err != nil {
			return errors.Join(failed, err)
		}
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

// undoContext switches on what context switched off in the user's settings, and names the projects in which it did.
func undoContext(c *cobra.Command, p command.Process, w io.Writer) (failed error) {
	dir, err := statedir.Find(p.Lookup)
	if err != nil {
		return nil //nolint:nilerr // there can be no note
	}
	done := map[string]bool{}
	for _, n := range change.Notes(dir) {
		switch {
		case n.Folder != "":
			failed = errors.Join(failed, fmt.Errorf("in %s: run \"mcp-pruner context %s --project --undo\" there", n.Folder, n.Client))
		case !done[n.Client]:
			done[n.Client] = true
			_, _ = fmt.Fprintf(w, "%s: what context switched off\n", agent.Named(n.Client).Title)
			undo := p
			undo.Args = []string{n.Client, "--undo"}
			if code := command.Verb(c.Context(), contextcmd.Command(undo), undo); code != command.OK {
				failed = errors.Join(failed, fmt.Errorf("\"mcp-pruner context %s --undo\" did not succeed", n.Client))
			}
		}
	}
	return failed
}
