package files

import (
	"testing"

	"github.com/mcp-pruner/mcp-pruner/tools/tooltest/stated"
)

// The numbers that the pages state are the ones of the code.
func TestStated(t *testing.T) {
	page := stated.On(t, "docs/decisions/015-how-read-ends.md")
	page.Says("Error messages quote at most %s bytes", "QuotedBytes", QuotedBytes)
}
