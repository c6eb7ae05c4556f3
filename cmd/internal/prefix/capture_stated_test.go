package prefix

import (
	"testing"

	"github.com/mcp-pruner/mcp-pruner/tools/tooltest/stated"
)

func TestCaptureStated(t *testing.T) {
	stated.On(t, "docs/CONTEXT.md").Says("turn after %s s is ended", "Limit", captureLimit.Seconds())
}
