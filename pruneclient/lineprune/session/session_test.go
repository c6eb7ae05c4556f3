package session_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/session"
)

func TestArgumentsOfACall(t *testing.T) {
	require.Empty(t, session.Origin{}.File())
	require.Equal(t, "a.go", session.Origin{Args: map[string]any{"file_path": "a.go"}}.File())
	require.Empty(t, session.Origin{Args: map[string]any{"path": "a.go", "pattern": "x"}}.File())
	require.Equal(t, "make", session.Origin{Args: map[string]any{"cmd": "make", "command": 7}}.Command())
}
