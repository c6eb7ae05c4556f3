package tools

import (
	"testing"
	"time"

	"github.com/mcp-pruner/mcp-pruner/tools/tooltest/stated"
)

// The numbers that the pages state are the ones of the code.
func TestStated(t *testing.T) {
	page := stated.On(t, "docs/decisions/015-how-read-ends.md")
	page.Says("for files up to %s GiB", "countLimit", countLimit>>30)
	page.Says("is read for at most %s s, then", "sizelessPatience", sizelessPatience/time.Second)
	page.Says("reads at most %s of them at once", "mostSizeless", mostSizeless)
}
