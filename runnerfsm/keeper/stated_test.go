//go:build !windows

package keeper

import (
	"testing"
	"time"

	"github.com/mcp-pruner/mcp-pruner/tools/tooltest/stated"
)

// TestStated ties the keeper's times to their constants.
func TestStated(t *testing.T) {
	page := stated.On(t, "docs/RUNNER.md")
	page.Says("the same signal and %s s to end", "graceTold", graceTold/time.Second)
	page = stated.On(t, "docs/RUNNER.md")
	page.Says("SIGTERM, %s a second, SIGKILL", "graceLeft", graceLeft.Seconds())
	page.Says("does the same after %s s", "graceLost", graceLost/time.Second)
}
