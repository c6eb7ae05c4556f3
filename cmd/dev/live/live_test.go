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

// A prompt of 10 bytes, one that continues it by 5, and one that has 5 bytes in common with that.
func TestMeterOnPaper(t *testing.T) {
	var m meter
	for _, prompt := range []string{"0123456789", "0123456789abcde", "01234xxxxx"} {
		m.add([]byte(prompt))
	}
	assert.InDelta(t, 10*1.25+(10*.1+5*1.25)+(5*.1+5*1.25), m.price, 1e-9)
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

// tolerated is the difference in points that the test allows. The goal is near: the planner takes a stub for shorter than it is.
const tolerated = 6

// What the running proxy saves is what replay says, in the form of every API.
func TestTheProxySavesWhatReplaySays(t *testing.T) {
	program := filepath.Join(t.TempDir(), "mcp-pruner")
	build := exec.Command("go", "build", "-o", program, "./cmd/mcp-pruner")
	build.Dir = "../../.."
	out, err := build.CombinedOutput()
	require.NoError(t, err, string(out))
	require.NoError(t, run(context.Background(), session(t), []string{"test"}, program, tolerated))
}
