package runnerfsm

import (
	"testing"
	"time"

	"github.com/mcp-pruner/mcp-pruner/runnerfsm/keeper"
	"github.com/mcp-pruner/mcp-pruner/tools/tooltest/stated"
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
	page = stated.On(t, "docs/RUNNER.md")
	page.Says("- %s if there is no such client", "notFound", notFound)
	page.Says("such client, %s if it cannot be", "keeper.CannotStart", keeper.CannotStart)
	page = stated.On(t, "docs/HTTP.md")
	page.Says("`/healthz` every %s s", "healthEvery", healthEvery/time.Second)
	page.Says("%s requests in a row", "maxFailures", maxFailures)
	page = stated.On(t, "testdata/help.txt")
	page.Says("the server may take to end (%s)", "ownedStopTimeout", ownedStopTimeout/time.Second)
	page = stated.On(t, "docs/decisions/024-what-a-run-gives-its-server.md")
	page.Says("`startup_timeout_sec` %s and", "codexStartTimeout", codexStartTimeout/time.Second)
	page.Says("`tool_timeout_sec` %s, longer", "codexToolTimeout", codexToolTimeout/time.Second)
	page = stated.On(t, "docs/decisions/026-when-a-run-is-unreachable.md")
	page.Says("it may take %s s, since", "silentFor", silentFor/time.Second)
	page.Says("no answer after %s s is", "silentFor", silentFor/time.Second)
}
