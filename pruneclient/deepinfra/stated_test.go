package deepinfra

import (
	"testing"
	"time"

	"github.com/mcp-pruner/mcp-pruner/tools/tooltest/stated"
)

// TestStated ties the cloud's defaults to their constants.
func TestStated(t *testing.T) {
	page := stated.On(t, "docs/HTTP.md")
	page.Says("`deepinfra_timeout_ms` (default %s)", "DefaultTimeout", DefaultTimeout/time.Millisecond)
	page.Says("`deepinfra_max_docs` (%s; moved", "DefaultMaxDocs", DefaultMaxDocs)
	page.Says("moved into 1 to %s)", "MaxDocs", MaxDocs)
	page.Says("`cache_ttl_s` (%s)", "DefaultCacheTTL", DefaultCacheTTL/time.Second)
	page.Says("`cache_max_entries` (%s)", "DefaultCacheMaxItems", DefaultCacheMaxItems)
}
