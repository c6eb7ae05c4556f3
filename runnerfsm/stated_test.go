package runnerfsm

import (
	"testing"
	"time"

	"mcp-pruner/tools/tooltest/stated"
)

// TestStated ties the times of a run to their constants.
func TestStated(t *testing.T) {
	page := stated.On(t, "docs/HTTP.md")
	page.Says("within `--start-timeout` (%s s)", "ownedStartTimeout", ownedStartTimeout/time.Second)
	page.Says("`--shutdown-timeout` (%s s)", "ownedStopTimeout", ownedStopTimeout/time.Second)
	page.Says("one request has no answer for %s s (both", "silentFor", silentFor/time.Second)
	page = stated.On(t, "docs/RUNNER.md")
	page.Says("to end before it is killed (%s)", "ownedStopTimeout", ownedStopTimeout/time.Second)
	page.Says("without it Codex waits %s s and Claude", "codexStartTimeout", codexStartTimeout/time.Second)
	page = stated.On(t, "testdata/help.txt")
	page.Says("(codex, http: %s, claude", "codexStartTimeout", codexStartTimeout/time.Second)
	page.Says("(codex, http: %s, claude", "ownedStartTimeout", ownedStartTimeout/time.Second)
	page = stated.On(t, "docs/clients/codex.md")
	page.Says("The runner sets %s.", "codexToolTimeout", codexToolTimeout/time.Second)
}
