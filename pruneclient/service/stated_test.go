package service

import (
	"testing"
	"time"

	"github.com/mcp-pruner/mcp-pruner/tools/tooltest/stated"
)

// TestStated ties the numbers of the line pruner's page to their constants.
func TestStated(t *testing.T) {
	page := stated.On(t, "docs/HTTP.md")
	page.Says("A search may take %s seconds", "searchTime", searchTime/time.Second)
	page.Says("in texts under %s bytes", "markersDecide", markersDecide)
	page.Says("With `threshold` %s, the default", "sweDefaultThreshold", sweDefaultThreshold)
	page.Says("beyond about %s characters a pa", "documentBytes", documentBytes)
	page = stated.On(t, "docs/decisions/020-originals-live-for-a-day.md")
	page.Says("always has at least %s ms", "storeGrace", storeGrace/time.Millisecond)
	page = stated.On(t, "docs/decisions/055-what-recover-text-answers.md")
	page.Says("A search ends after %s s", "searchTime", searchTime/time.Second)
	page = stated.On(t, "docs/decisions/056-markers-under-a-reranker.md")
	page.Says("lengthen a text below %s bytes", "markersDecide", markersDecide)
	page = stated.On(t, "docs/decisions/056-markers-under-a-reranker.md")
	page.Says("At `threshold` %s the", "sweDefaultThreshold", sweDefaultThreshold)
}
