package runnerfsm

import (
	"os"

	"github.com/mcp-pruner/mcp-pruner/runnerfsm/keeper"
)

// Windows has no stop signals to forward.

func watchStops() chan os.Signal { return nil }

func passStops(chan os.Signal, *keeper.Kept, <-chan struct{}) {}
