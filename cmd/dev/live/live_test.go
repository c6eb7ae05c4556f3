package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A prompt, one that continues it, and one that has its first half in common with that.
func TestMeterOnPaper(t *testing.T) {
	var m meter
	one, more := strings.Repeat("one two three ", 20), strings.Repeat("four five six ", 10)
	for _, prompt := range []string{one, one + more, one[:140] + more} {
		m.add([]byte(`{"id":"x","content":[{"type":"text","text":"` + prompt + `"}]}`))
	}
	want := 1.25*float64(count(one+"\n")) + .1*float64(count(one)) + 1.25*float64(count(more+"\n")) + .1*float64(count(one[:140])) + 1.25*float64(count(more+"\n"))
	assert.InDelta(t, want, m.price, 1e-9)
}

// session writes a collection with one session of commands with large outputs, which no later step needs.
func session(t *testing.T) (file string) {
	t.Helper()
	steps := []any{map[string]any{"k": "user", "text": "look at the outputs"}}
	for i := range 60 {
		id := fmt.Sprintf("toolu_01A2b3C4d5E6f7G8h9%04d", i)
		args := map[string]any{"command": fmt.Sprintf("run %d", i)}
		steps = append(steps, map[string]any{"k": "call"}, map[string]any{"k": "use", "id": id, "tool": "Bash", "args": args},
			map[string]any{"k": "result", "id": id, "tool": "Bash", "args": args, "out": strings.Repeat(fmt.Sprintf("a line of the output of command number %d\n", i), 150)})
	}
	line, err := json.Marshal(map[string]any{"id": "test", "src": "test", "steps": append(steps, map[string]any{"k": "call"})})
	require.NoError(t, err)
	file = filepath.Join(t.TempDir(), "sessions.jsonl")
	require.NoError(t, os.WriteFile(file, append(line, '\n'), 0o600))
	return file
}

// What the running proxy saves is what replay says, in the form of every API.
func TestTheProxySavesWhatReplaySays(t *testing.T) {
	program := filepath.Join(t.TempDir(), "mcp-pruner")
	build := exec.Command("go", "build", "-o", program, "./cmd/mcp-pruner")
	build.Dir = "../../.."
	out, err := build.CombinedOutput()
	require.NoError(t, err, string(out))
	require.NoError(t, run(context.Background(), session(t), []string{"test"}, program, near))
}
