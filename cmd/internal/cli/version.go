package cli

import (
	"fmt"
	"runtime/debug"

	"github.com/spf13/cobra"

	"mcp-pruner/cmd/internal/command"
)

// release is the version of this source tree.
const release = "0.1.0"

// buildVersion is the release, and the commit where the build knows it.
func buildVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return release
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return release + "+" + s.Value[:12]
		}
	}
	return release
}

func versionCommand(p command.Process) *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Args: command.NoArguments,
		RunE: func(*cobra.Command, []string) error { return printVersion(p) },
	}
}

func printVersion(p command.Process) error {
	_, err := fmt.Fprintln(p.Stdout, command.Program+" "+buildVersion())
	return err
}
