package verbs

import (
	"testing"
	"time"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
	"github.com/mcp-pruner/mcp-pruner/tools/tooltest/stated"
)

// TestGainStated ties a number of the hooks' page to its constant.
func TestGainStated(t *testing.T) {
	stated.On(t, "docs/HOOKS.md").Says("for at most %s ms, and prints it first", "statusFirstWithin", statusFirstWithin/time.Millisecond)
}

// The numbers that the pages state are the ones of the code.
func TestTraceStated(t *testing.T) {
	page := stated.On(t, "docs/AUDIT.md")
	page.Says("`verify` exits with %s and", "traceOK", traceOK)
	page.Says("and a count, or with %s and", "traceInvalid", traceInvalid)
	page.Says("The exit status is %s if nothing wrong", "traceUnproved", traceUnproved)
	page.Says("and exit with %s if the trace", "traceInvalid", traceInvalid)
	page.Says("lists the last %s;", "maxTraceRows", maxTraceRows)
	stated.On(t, "docs/GATEWAY.md").Says("becomes shorter by less than %s tokens", "worthwhile", worthwhile)
	stated.On(t, "docs/GATEWAY.md").Says("is set, than %s (with a number", "pruneOverWithStore", pruneOverWithStore)
	stated.On(t, "docs/TEAMS.md").Says("cuts results of more than %s characters", "pruneOverWithStore", pruneOverWithStore)
	page = stated.On(t, "testdata/help.txt")
	page.Says("becomes shorter by less than %s tokens", "worthwhile", worthwhile)
	page.Says("(default: never; %s with a CONFIG and", "pruneOverWithStore", pruneOverWithStore)
	page.Says("The exit status is %s when the trace is in order", "traceOK", traceOK)
	page.Says("in order, %s when it is not or", "traceInvalid", traceInvalid)
	page.Says("and %s for a wrong command line", "command.Usage", command.Usage)
	page.Says("With --heads it is %s when nothing", "traceUnproved", traceUnproved)
	page.Says("the exit status is %s when the trace is not in order", "traceInvalid", traceInvalid)
}
