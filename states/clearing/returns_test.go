package clearing

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc/wire"
)

// The planner is told for each text how often the model has brought it back: by the id in its stub, or by reading the same lines of
// its file again. The first return is the first, each further one counts once, and each text has a count of its own.
func TestReturnsAreCountedOnce(t *testing.T) {
	recover := func(id string) map[string]any { return map[string]any{"command": "mcp-pruner recover " + id} }
	lines := func(offset int) map[string]any {
		return map[string]any{"file_path": "/x/a.go", "offset": offset, "limit": 50}
	}
	calls := []struct {
		tool  string
		args  map[string]any
		again int
	}{
		{"Read", lines(1), 0},
		{"Bash", map[string]any{"command": "run"}, 0},
		{"Read", lines(1), 1},
		{"Bash", recover("prn_00000001"), 1},
		{"Bash", recover("prn_00000001"), 2},
		{"Bash", recover("prn_00000002"), 1},
		{"Read", lines(1), 2},
		{"Bash", recover("prn_00000001"), 3},
		{"Bash", recover("prn_00000003"), 0}, // of no stub in the request
		{"Read", lines(1), 3},
		{"Read", lines(60), 0}, // other lines were not cleared
	}
	messages := []any{map[string]any{"role": "user", "content": "fix the bug"}}
	var want []int
	for i, call := range calls {
		id := fmt.Sprintf("toolu_%d", i)
		messages = append(messages,
			map[string]any{"role": "assistant", "content": []any{map[string]any{"type": "tool_use", "id": id, "name": call.tool, "input": call.args}}},
			map[string]any{"role": "user", "content": []any{map[string]any{"type": "tool_result", "tool_use_id": id, "content": fmt.Sprint("the result of ", id)}}})
		want = append(want, call.again)
	}
	body, err := json.Marshal(map[string]any{"model": "claude-opus-5", "messages": messages})
	require.NoError(t, err)
	c, err := wire.APIOf("/v1/messages").Parse(body)
	require.NoError(t, err)
	e := &Engine{Policy: contextgc.DefaultPolicy(), Now: time.Now}
	e.keys.Identify(c)
	w := e.walk(c, c.Marks(), nil)
	w.ids["prn_00000001"], w.ids["prn_00000002"] = true, true
	for i := range c.Turns {
		w.turn(i)
		for _, r := range c.Turns[i].Results {
			w.cleared[r.Index] = true // before the next turn
		}
	}
	var got []int
	for _, turn := range w.history.turns {
		for _, p := range turn.items {
			if p.returned {
				p.Again++ // as the planner counts it
			}
			got = append(got, p.Again)
		}
	}
	assert.Equal(t, want, got)
}
