package session_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/session"
)

func TestArgumentsOfACall(t *testing.T) {
	require.Empty(t, session.Call{}.File())
	require.Equal(t, "a.go", session.Call{Args: map[string]any{"file_path": "a.go"}}.File())
	require.Empty(t, session.Call{Args: map[string]any{"path": "a.go", "pattern": "x"}}.File())
	require.Equal(t, "make", session.Call{Args: map[string]any{"cmd": "make", "command": 7}}.Command())
}
