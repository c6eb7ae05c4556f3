package sessions

import (
	"testing"

	"github.com/mcp-pruner/mcp-pruner/tools/tooltest/stated"
)

// TestPrefixStated ties the numbers of the rule to their constants.
func TestPrefixStated(t *testing.T) {
	page := stated.On(t, "docs/decisions/090-what-could-go-from-the-prefix.md")
	page.Says("cost %s tokens and more", "MinTokens", MinPartTokens)
	page.Says("none of at least %s sessions", "MinSeen", MinSeen)
	page.Says("for these it is %s sessions", "LateSeen", LateSeen)
}
