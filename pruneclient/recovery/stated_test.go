package recovery_test

import (
	"testing"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/recovery"
	"github.com/mcp-pruner/mcp-pruner/tools/tooltest/stated"
)

// TestStated ties what the store of the line pruner keeps to their constants.
func TestStated(t *testing.T) {
	stated.On(t, "SECURITY.md").Says("after %s wrong ones", "MaxMisses", recovery.MaxMisses)
}
