package verbs

import (
	"path/filepath"
	"runtime/debug"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
)

// Release is the version of this source tree.
const Release = "0.1.0"

// Repository is the address of the source and the path of the module. A test names the files that have to say the same.
const Repository = "github.com/mcp-pruner/mcp-pruner"

// The commit of a release and its date, set by the linker (make dist). Other builds get the commit from Go's build
// information.
var commit, date string

// buildVersion returns the release and, if known, the commit.
func buildVersion() string {
	revision := commit
	if info, ok := debug.ReadBuildInfo(); ok && revision == "" {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				revision = s.Value
			}
		}
	}
	if len(revision) < 12 {
		return Release
	}
	return Release + "+" + revision[:12]
}

// versionLine is what the program says of its version.
func versionLine() string {
	line := command.Program + " " + buildVersion()
	if date != "" {
		line += " (" + date + ")"
	}
	return line
}

// IsHTTPName reports whether the program was called by the name under which it is only the HTTP server. ".exe" or a
// version may follow the name.
func IsHTTPName(program string) bool {
	return strings.HasPrefix(filepath.Base(program), "jeeves-mcp-pruner")
}
