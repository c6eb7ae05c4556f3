package audit

import (
	"math"
	"testing"

	"github.com/mcp-pruner/mcp-pruner/tools/tooltest/stated"
)

// TestStated ties what verify and stats state to their constants.
func TestStated(t *testing.T) {
	page := stated.On(t, "docs/AUDIT.md")
	page.Says("percentiles, have steps of %s %", "significantBits", math.Round(1000.0/(1<<significantBits))/10)
}
