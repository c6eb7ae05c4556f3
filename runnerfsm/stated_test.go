package runnerfsm

import (
	"testing"
	"time"

	"github.com/mcp-pruner/mcp-pruner/runnerfsm/keeper"
	"github.com/mcp-pruner/mcp-pruner/tools/tooltest/stated"
)

// TestStated ties the times of a run to their constants.
func TestStated(t *testing.T) {
	page := stated.On(t, "docs/RUNNER.md")
	page.Says("within `--start-timeout` (%s s)", "ownedStartTimeout", ownedStartTimeout/time.Second)
	page.Says("`--shutdown-timeout` (%s s)", "ownedStopTimeout", ownedStopTimeout/time.Second)
	page.Says("one request has no answer for %s s (both", "server.SilentFor", healthSilentFor/time.Second)
	page = stated.On(t, "docs/RUNNER.md")
	page.Says("to end before it is killed (%s)", "ownedStopTimeout", ownedStopTimeout/time.Second)
	page = stated.On(t, "testdata/help.txt")
	page.Says("(codex, http: %s, claude", "ownedStartTimeout", ownedStartTimeout/time.Second)
	page = stated.On(t, "docs/RUNNER.md")
	page.Says("- %s if there is no such client", "notFound", notFound)
	page.Says("such client, %s if it cannot be", "keeper.CannotStart", keeper.CannotStart)
	page = stated.On(t, "docs/RUNNER.md")
	page.Says("`/healthz` every %s s", "server.HealthEvery", healthEvery/time.Second)
	page.Says("%s requests in a row", "server.MaxFailures", maxHealthFailures)
	page = stated.On(t, "testdata/help.txt")
	page.Says("the server may take to end (%s)", "ownedStopTimeout", ownedStopTimeout/time.Second)
}
