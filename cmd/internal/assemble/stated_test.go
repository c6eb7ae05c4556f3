package assemble

import (
	"testing"

	"github.com/mcp-pruner/mcp-pruner/tools/tooltest/stated"
)

// The numbers that the pages state are the ones of the code.
func TestStated(t *testing.T) {
	page := stated.On(t, "docs/TEAMS.md")
	page.Says("an agent makes %s calls", "callsADay", callsADay)
	page.Says("calls in %s hours", "hoursADay", hoursADay)
	page.Says("kept for %s days", "daysKept", daysKept)
}
