package recovery_test

import (
	"testing"
	"time"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/recovery"
	"github.com/mcp-pruner/mcp-pruner/tools/tooltest/stated"
)

// TestStated ties what the store of the line pruner keeps to their constants.
func TestStated(t *testing.T) {
	page := stated.On(t, "docs/HTTP.md")
	page.Says("Ids live %s minutes", "DefaultTTL", recovery.DefaultTTL/time.Minute)
	page.Says("The store holds %s MiB", "DefaultMaxBytes", recovery.DefaultMaxBytes>>20)
	page.Says("distinct texts and %s ids", "DefaultMaxItems", recovery.DefaultMaxItems)
	stated.On(t, "SECURITY.md").Says("after %s wrong ones", "MaxMisses", recovery.MaxMisses)
}
