package hook

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/history/sessions"
)

// Of a session that is long enough for anything else, a diff needs the edits before, too.
func TestADiffIsReadFurtherBack(t *testing.T) {
	steps := []sessions.Step{{Kind: sessions.User, Text: "fix the basket"}}
	for i := range 80 {
		steps = append(steps, sessions.Step{Kind: sessions.Call}, sessions.Step{Kind: sessions.Say, Text: fmt.Sprintf("I look at file %d", i)},
			sessions.Step{Kind: sessions.Result, Tool: "Bash", Out: "text"})
	}
	needs := func(command string) history.Need {
		return needsOf(sessions.Session{Steps: steps}, "t1", history.ParseCall("Bash", map[string]any{"command": command}))
	}
	require.Equal(t, history.NeedsNothing, needs("go vet ./..."))
	require.Equal(t, history.NeedsEvents, needs("git diff"))
	steps = append([]sessions.Step{{Kind: sessions.Compact}}, steps...)
	require.Equal(t, history.NeedsNothing, needs("git diff"))
}
