package provider

import (
	"testing"
	"time"

	"github.com/mcp-pruner/mcp-pruner/tools/tooltest/stated"
)

// TestStated ties the times of a client to their constants.
func TestStated(t *testing.T) {
	stated.On(t, "docs/RUNNER.md").Says("without it Codex waits %s s and Claude", "codexStartTimeout", codexStartTimeout/time.Second)
	stated.On(t, "testdata/help.txt").Says("(codex, http: %s, claude", "codexStartTimeout", codexStartTimeout/time.Second)
	stated.On(t, "docs/clients/codex.md").Says("The runner sets %s.", "codexToolTimeout", codexToolTimeout/time.Second)
	page := stated.On(t, "docs/decisions/023-the-runners-options.md")
	page.Says("`startup_timeout_sec` %s and", "codexStartTimeout", codexStartTimeout/time.Second)
	page.Says("`tool_timeout_sec` %s, longer", "codexToolTimeout", codexToolTimeout/time.Second)
}
