package audit

import (
	"math"
	"testing"
	"time"

	"github.com/mcp-pruner/mcp-pruner/tools/tooltest/stated"
)

// TestStated ties what verify and stats state to their constants.
func TestStated(t *testing.T) {
	page := stated.On(t, "docs/AUDIT.md")
	page.Says("ended more than %s ms apart", "maxBatch", maxBatch/time.Millisecond)
	page.Says("over %s MiB is a problem", "maxLineBytes", maxLineBytes>>20)
	page = stated.On(t, "docs/AUDIT.md")
	page.Says("above %s, ids are", "sortedMarks", sortedMarks)
	page.Says("%s bytes a record)", "markBytes", markBytes)
	page.Says("percentiles, have steps of %s %", "significantBits", math.Round(1000.0/(1<<significantBits))/10)
	page.Says("fewer than %s other subjects", "maxPruned", maxPruned)
	page.Says("No record ended %s days or more", "maxBackwards", maxBackwards/(24*time.Hour))
	page = stated.On(t, "docs/decisions/030-what-verify-checks.md")
	page.Says("a step back of %s days is", "maxBackwards", maxBackwards/(24*time.Hour))
}
