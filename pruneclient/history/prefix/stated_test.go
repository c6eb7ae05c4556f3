package prefix

import (
	"testing"

	"github.com/mcp-pruner/mcp-pruner/tools/tooltest/stated"
)

// TestStated ties the numbers of the rule to their constants.
func TestStated(t *testing.T) {
	page := stated.On(t, "docs/decisions/090-what-could-go-from-the-prefix.md")
	page.Says("cost %s tokens and more", "MinTokens", MinTokens)
	page.Says("none of at least %s sessions", "MinSeen", MinSeen)
	page.Says("for these it is %s sessions", "LateSeen", LateSeen)
}
