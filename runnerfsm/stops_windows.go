package runnerfsm

import (
	"os"

	"mcp-pruner/runnerfsm/keeper"
)

// There are no stops to pass on here.

func watchStops() chan os.Signal { return nil }

func passStops(chan os.Signal, *keeper.Kept, <-chan struct{}) {}
