package cli

import (
	"context"
	"fmt"
	"runtime/debug"
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

func version(_ context.Context, p Process) int {
	if code, done := noArguments(p, "version", "prints the version"); done {
		return code
	}
	if _, err := fmt.Fprintln(p.Stdout, "mcp-pruner "+buildVersion()); err != nil {
		fmt.Fprintln(p.Stderr, "mcp-pruner version:", err)
		return exitFail
	}
	return exitOK
}
