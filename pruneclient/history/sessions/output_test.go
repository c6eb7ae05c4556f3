package sessions

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCommandOutput(t *testing.T) {
	var all strings.Builder
	for i := range 400 {
		fmt.Fprintf(&all, "line %d\n", i+1)
	}
	long := all.String()
	cut := long[:1000] + notKept + long[len(long)-1000:]
	path := filepath.Join(t.TempDir(), "rollout.jsonl")
	var lines []string
	for id, output := range map[string]string{"call_1": long, "call_2": cut, "call_3": "x" + notKept + "y"} {
		line, err := json.Marshal(map[string]any{"type": "event_msg", "payload": map[string]any{"type": "item_completed",
			"item": map[string]any{"type": "CommandExecution", "id": id, "aggregated_output": output}}})
		require.NoError(t, err)
		lines = append(lines, string(line))
	}
	require.NoError(t, os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n{\"incomplete"), 0o600))
	const shown = "Warning: truncated output (original token count: 1)\nTotal output lines: 400\n\nline 1\n"

	text, ok := CommandOutput(path, "call_1", shown)
	require.True(t, ok)
	require.Equal(t, long, text)

	text, ok = CommandOutput(path, "call_2", shown)
	require.True(t, ok)
	got := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	require.Len(t, got, 400)
	for i, line := range got {
		if strings.HasPrefix(line, "line") {
			require.Equal(t, fmt.Sprintf("line %d", i+1), line)
		}
	}
	require.Contains(t, text, "[Codex did not keep these lines]\n")
	for _, id := range []string{"call_3", "call_4", ""} {
		_, ok = CommandOutput(path, id, shown)
		require.False(t, ok, id)
	}
	_, ok = CommandOutput(path, "call_2", "without a number")
	require.False(t, ok)
	_, ok = CommandOutput(path+"x", "call_1", shown)
	require.False(t, ok)
}
