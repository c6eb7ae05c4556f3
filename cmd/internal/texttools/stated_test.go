package texttools

import (
	"testing"

	"mcp-pruner/tools/tooltest/stated"
)

// TestStated ties the lengths of answers to their constants.
func TestStated(t *testing.T) {
	page := stated.On(t, "docs/LINE-PRUNER.md")
	page.Says("an answer over %s bytes comes in pages", "pageBytes", pageBytes)
	page.Says("an answer carries up to %s MiB", "maxAnswerBytes", maxAnswerBytes>>20)
}
