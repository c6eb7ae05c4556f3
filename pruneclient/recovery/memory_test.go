package recovery_test

import (
	"testing"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/recovery"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/recovery/recoverytest"
)

func TestMemory(t *testing.T) {
	recoverytest.Run(t, func(*testing.T) func(recovery.Settings) (*recovery.Store, error) { return recovery.Open })
}
