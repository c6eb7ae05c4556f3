package recovery

import (
	"testing"
	"time"

	"github.com/mcp-pruner/mcp-pruner/tools/tooltest/stated"
)

// TestArchiveStated ties how long and how much of the originals hooks keep to their constants.
func TestArchiveStated(t *testing.T) {
	page := stated.On(t, "docs/HOOKS.md")
	page.Says("kept for %s days", "MaxAge", maxAge/(24*time.Hour))
	page.Says("days, at most %s MiB", "MaxBytes", maxBytes>>20)
	page.Says("by its lines for %s minutes", "printedFor", printedFor/time.Minute)
	page = stated.On(t, "docs/decisions/163-what-is-brought-back-stays-whole.md")
	page.Says("For %s minutes a result", "printedFor", printedFor/time.Minute)
	page.Says("The latest %s prints", "mostPrints", mostPrints)
	page.Says("make up %s % of its bytes", "printedShare", printedShare)
	page.Says("a line of %s bytes or more", "longPrinted", longPrinted)
	page.Says("the last %s bytes", "longPrinted", longPrinted/2)
	page = stated.On(t, "docs/GC.md")
	page.Says("removed after %s days", "MaxAge", maxAge/(24*time.Hour))
	page.Says("and above %s MiB", "MaxBytes", maxBytes>>20)
	page = stated.On(t, "testdata/help.txt")
	page.Says("keep originals for %s days", "MaxAge", maxAge/(24*time.Hour))
	page = stated.On(t, "docs/decisions/067-originals-have-ids-of-the-user.md")
	page.Says("until they are %s days old", "MaxAge", maxAge/(24*time.Hour))
	page = stated.On(t, "docs/decisions/068-an-original-belongs-to-a-project.md")
	page.Says("for its %s days", "MaxAge", maxAge/(24*time.Hour))
}
