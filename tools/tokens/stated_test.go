package tokens

import (
	"testing"

	"github.com/mcp-pruner/mcp-pruner/tools/tooltest/stated"
)

// The numbers that the pages state are the ones of the code.
func TestStated(t *testing.T) {
	stated.On(t, "docs/RUNNER.md").Says("estimated at %s bytes each", "BytesPerToken", bytesPerToken)
	page := stated.On(t, "docs/AUDIT.md")
	page.Says("samples of a text: %s KiB", "wellWindows", wellWindows*windowBytes>>10)
	page.Says("output was pruned, %s bytes elsewhere", "quickWindows", quickWindows*windowBytes)
	stated.On(t, "docs/evidence/BILL.md").Says("o200k tokens estimated from the text, times %s.", "ClaudePerToken", ClaudePerToken)
}
