package clearing

import (
	"testing"
	"time"

	"github.com/mcp-pruner/mcp-pruner/tools/contextgc/wire"
	"github.com/mcp-pruner/mcp-pruner/tools/tooltest/stated"
)

// TestStated ties the numbers that the pages state to their constants.
func TestStated(t *testing.T) {
	page := stated.On(t, "docs/GC.md")
	page.Says("(after %s minutes, or", "ShortLife", wire.ShortLife/time.Minute)
	page.Says("minutes, or %s if the client asks for an hour", "LongLife", wire.LongLife/time.Minute)
	page.Says("waits %s minute more", "cacheMargin", cacheMargin/time.Minute)
	page.Says("or after %s idle minutes", "idle", idle/time.Minute)
}
