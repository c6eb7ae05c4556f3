package command

import (
	"testing"

	"github.com/mcp-pruner/mcp-pruner/tools/tooltest/stated"
)

// The numbers that the pages state are the ones of the code.
func TestStated(t *testing.T) {
	page := stated.On(t, "docs/CONFIG.md")
	page.Says("it exits with code %s and logs an", "Usage", Usage)
	page = stated.On(t, "docs/HOOKS.md")
	page.Says("exits with status %s. So", "Fail", Fail)
	page.Says("prints nothing and exits with %s,", "OK", OK)
	page = stated.On(t, "docs/HTTP.md")
	page.Says("in plain words, and exits with %s.", "Usage", Usage)
	page.Says("cancels the rest and exits with %s.", "OK", OK)
	page = stated.On(t, "docs/RUNNER.md")
	page.Says("- %s for a refused command line", "Usage", Usage)
	page.Says("command line, %s if the answer", "Fail", Fail)
	page = stated.On(t, "docs/TROUBLESHOOTING.md")
	page.Says("line the exit code is %s.", "Fail", Fail)
	page.Says("It exits with code %s if a", "Usage", Usage)
	page = stated.On(t, "testdata/help.txt")
	page.Says("The exit status is %s when something", "Fail", Fail)
	page.Says("exits with %s when it is well", "OK", OK)
	page.Says("the exit status is %s: the result", "OK", OK)
}
