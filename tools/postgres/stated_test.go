package postgres

import (
	"testing"

	"github.com/mcp-pruner/mcp-pruner/tools/tooltest/stated"
)

// The numbers that the page states are the ones of the code.
func TestStated(t *testing.T) {
	stated.On(t, "docs/TEAMS.md").Says("Originals over %s MiB may lie in a bucket", "largeText", largeText>>20)
}
