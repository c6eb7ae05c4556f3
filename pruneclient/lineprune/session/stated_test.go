package session_test

import (
	"testing"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/session"
	"github.com/mcp-pruner/mcp-pruner/tools/tooltest/stated"
)

// TestStated ties what stays whole to its constants.
func TestStated(t *testing.T) {
	page := stated.On(t, "docs/HOOKS.md")
	page.Says("asks for %s or more lines of context", "LongContext", session.LongContext)
	page.Says("bounded itself to at most %s lines", "Bounded", session.Bounded)
	page.Says("a file of at most %s lines, however", "ShortFile", session.ShortFile)
}
