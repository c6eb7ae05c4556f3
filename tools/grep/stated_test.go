package grep

import (
	"testing"

	"github.com/mcp-pruner/mcp-pruner/tools/tooltest/stated"
)

// The numbers that the pages state are the ones of the code.
func TestStated(t *testing.T) {
	page := stated.On(t, "docs/decisions/012-what-grep-returns.md")
	page.Says("A shortened line shows %s characters", "shownChars", shownChars)
	page.Says("More than %s MiB into a line the column", "maxLine", maxLine>>20)
	page = stated.On(t, "docs/decisions/013-search-without-ripgrep.md")
	page.Says("A NUL byte makes the %s KiB before it", "nulMargin", nulMargin>>10)
}
