package assemble

import (
	"testing"
	"time"

	"github.com/mcp-pruner/mcp-pruner/states/store"
	"github.com/mcp-pruner/mcp-pruner/tools/tooltest/stated"
)

// The numbers that the pages state are the ones of the code.
func TestStated(t *testing.T) {
	page := stated.On(t, "docs/AUDIT.md")
	page.Says("waits for a place at most %s s", "anchorPatience", anchorPatience/time.Second)
	page = stated.On(t, "docs/TEAMS.md")
	page.Says("an agent makes %s calls", "callsADay", callsADay)
	page.Says("calls in %s hours", "hoursADay", hoursADay)
	page.Says("kept for %s days", "daysKept", daysKept)
	page.Says("has a pool of %s connections", "Conns", store.Conns)
}
