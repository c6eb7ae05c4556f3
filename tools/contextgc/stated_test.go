package contextgc

import (
	"testing"
	"time"

	"mcp-pruner/tools/tooltest/stated"
)

// TestStated ties the ledger's numbers to their constants.
func TestStated(t *testing.T) {
	page := stated.On(t, "docs/GC.md")
	page.Says("those of the last %s hours", "inUse", inUse/time.Hour)
	page = stated.On(t, "docs/CONFIG.md")
	page.Says("those of the last %s hours", "inUse", inUse/time.Hour)
	page = stated.On(t, "docs/GC.md")
	page.Says("`%s * age in days", "ageWeight", ageWeight)
	page.Says("in days + %s * type", "typeWeight", typeWeight)
	page.Says("type + %s / (references", "referenceWeight", referenceWeight)
	page.Says("+ 1) + %s * generation", "generationWeight", generationWeight)
}
