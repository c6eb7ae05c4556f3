package runcmd

import (
	"context"
	"io"

	"mcp-pruner/runnerfsm/keeper"
)

// Keep is the verb keep, which only run uses: it is the process between the
// runner and the client. It takes the process's own streams.
func Keep(_ context.Context, args, _ []string, _ io.Reader, _, _ io.Writer) int {
	return keeper.Main(args)
}
