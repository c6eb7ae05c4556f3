package lineprune

import (
	"testing"

	"github.com/mcp-pruner/mcp-pruner/tools/tooltest/stated"
)

// TestStated ties what counts as a list of records to its constant.
func TestStated(t *testing.T) {
	stated.On(t, "docs/HOOKS.md").Says("at least %s matches, items of JSON", "leastRecords", leastRecords)
}
