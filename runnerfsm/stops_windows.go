package runnerfsm

import (
	"os"

	"mcp-pruner/runnerfsm/keeper"
)

// Windows has no stop signals to forward.

func watchStops() chan os.Signal { return nil }

func passStops(chan os.Signal, *keeper.Kept, <-chan struct{}) {}
