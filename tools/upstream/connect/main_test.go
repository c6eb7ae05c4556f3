package connect

import (
	"testing"

	"go.uber.org/goleak"
)

// No goroutine is left when the tests have ended, except the one that waits for the process that watches over commands.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/mcp-pruner/mcp-pruner/tools/process.startWatcher.func1"))
}
