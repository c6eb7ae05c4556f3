package contextgc

import (
	"testing"
	"time"

	"github.com/mcp-pruner/mcp-pruner/tools/tooltest/stated"
)

// TestStated ties the ledger's numbers to their constants.
func TestStated(t *testing.T) {
	page := stated.On(t, "docs/GC.md")
	page.Says("those of the last %s hours", "InUse", InUse/time.Hour)
	page = stated.On(t, "docs/CONFIG.md")
	page.Says("those of the last %s hours", "InUse", InUse/time.Hour)
	page = stated.On(t, "docs/GC.md")
	page.Says("`%s * age in days", "ageWeight", ageWeight)
	page.Says("in days + %s * type", "typeWeight", typeWeight)
	page.Says("type + %s / (references", "referenceWeight", referenceWeight)
	page.Says("+ 1) + %s * generation", "generationWeight", generationWeight)
	page = stated.On(t, "docs/GC.md")
	page.Says("Type is %s for a log", "worth[Log]", worth[Log])
	page.Says("for a log, %s note", "worth[Note]", worth[Note])
	page.Says("note, %s code", "worth[Code]", worth[Code])
	page.Says("code, %s message", "worth[Message]", worth[Message])
	page.Says("message, %s summary", "worth[Summary]", worth[Summary])
	page.Says("summary, %s decision", "worth[Decision]", worth[Decision])
	page.Says("Generation is %s for", "oldGeneration", oldGeneration)
	page.Says("survived %s collections", "OldAfter", OldAfter)
	page.Says("collections, else %s", "youngGeneration", youngGeneration)
	page = stated.On(t, "docs/decisions/065-plans-stash-and-never-delete.md")
	page.Says("`limit` (default %s) limits", "maxListed", maxListed)
}
