package proxy

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// A result may contain anything, even the texts that the proxy writes itself. Lines that stay are the tool's own.
func TestAPrunedResultKeepsItsOwnIds(t *testing.T) {
	r := newRig(t, database(t), policyBoth)
	var lines []string
	for i := range 900 {
		lines = append(lines, fmt.Sprintf("ok  \tpackage/number%d\t0.%02ds", i, i%60))
	}
	const failure = "--- FAIL: TestIds (0.00s)\n    ids_test.go:12: got prn_00000000, want s1234567\nFAIL\tpackage/ids\t0.01s"
	lines[700] = failure
	body := encoded(map[string]any{"messages": []any{
		map[string]any{"role": "user", "content": "why do the tests fail"},
		map[string]any{"role": "assistant", "content": []any{
			map[string]any{"type": "text", "text": "Let me see which test fails and why."},
			map[string]any{"type": "tool_use", "id": "t1", "name": "Bash", "input": map[string]any{"command": "go test ./..."}}}},
		map[string]any{"role": "user", "content": []any{map[string]any{"type": "tool_result", "tool_use_id": "t1",
			"content": strings.Join(lines, "\n")}}},
	}})
	got := string(r.post(t, "/v1/messages", body))
	assert.Less(t, len(got), len(body)/4)
	assert.Contains(t, got, "got prn_00000000, want s1234567")
}
