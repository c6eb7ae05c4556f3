package tracecmd

import (
	"testing"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
	"github.com/mcp-pruner/mcp-pruner/tools/tooltest/stated"
)

// The numbers that the pages state are the ones of the code.
func TestStated(t *testing.T) {
	page := stated.On(t, "docs/AUDIT.md")
	page.Says("`verify` exits with %s and", "exitOK", exitOK)
	page.Says("and a count, or with %s and", "exitBad", exitBad)
	page.Says("The exit status is %s if nothing wrong", "exitUnproved", exitUnproved)
	page.Says("and exit with %s if the trace", "exitBad", exitBad)
	page.Says("lists the last %s;", "maxRows", maxRows)
	page = stated.On(t, "testdata/help.txt")
	page.Says("The exit status is %s when the trace is in order", "exitOK", exitOK)
	page.Says("in order, %s when it is not or", "exitBad", exitBad)
	page.Says("and %s for a wrong command line", "command.Usage", command.Usage)
	page.Says("With --heads it is %s when nothing", "exitUnproved", exitUnproved)
	page.Says("the exit status is %s when the trace is not in order", "exitBad", exitBad)
}
