package service

import (
	"testing"

	"github.com/mcp-pruner/mcp-pruner/tools/tooltest/stated"
)

// TestStated ties the numbers on the pages to their constants.
func TestStated(t *testing.T) {
	stated.On(t, "docs/HTTP.md").Says("answer, or more than %s |", "maxRanges", maxRanges)
}
