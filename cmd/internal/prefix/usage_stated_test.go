package prefix

import (
	"testing"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history/sessions"
	"github.com/mcp-pruner/mcp-pruner/tools/tokens"
	"github.com/mcp-pruner/mcp-pruner/tools/tooltest/stated"
)

func TestUsageStated(t *testing.T) {
	page := stated.On(t, "docs/CONTEXT.md")
	page.Says("of your sessions of the last %s days", "Days", UsageDays)
	page.Says("used, of at least %s, and", "prefix.MinSeen", sessions.MinSeen)
	page.Says("at least %s tokens (", "prefix.MinTokens", sessions.MinPartTokens)
	page.Says("(%s sessions for what", "prefix.LateSeen", sessions.LateSeen)
	page.Says("is about %s times that", "tokens.ClaudePerToken", tokens.ClaudePerToken)
	page = stated.On(t, "testdata/help.txt")
	page.Says("of your sessions of the last %s days", "Days", UsageDays)
}
