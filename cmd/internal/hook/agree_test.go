package hook

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/states/replay"
)

// story returns a session in which a file is read once and then carried through three more calls. shown is
// the text of the file as sent to the model, prompt the number of tokens of the prompt with it.
func story(shown string, prompt int) []map[string]any {
	use := func(input, read, write int) map[string]any {
		return map[string]any{"input_tokens": input, "cache_creation_input_tokens": write, "cache_read_input_tokens": read, "output_tokens": 20}
	}
	answer := func(id string, usage map[string]any, blocks ...any) map[string]any {
		return map[string]any{"type": "assistant", "sessionId": "s", "message": map[string]any{"id": id, "usage": usage, "content": blocks}}
	}
	said := func(text string) any { return map[string]any{"type": "text", "text": text} }
	return []map[string]any{
		{"type": "user", "sessionId": "s", "message": map[string]any{"role": "user", "content": "how often is it tried?"}},
		answer("m1", use(0, 0, 9000), said(question), map[string]any{"type": "tool_use", "id": "t1", "name": "Read", "input": map[string]any{"file_path": "/r/store.go"}}),
		{"type": "user", "sessionId": "s", "message": map[string]any{"role": "user", "content": []any{map[string]any{"type": "tool_result", "tool_use_id": "t1", "content": shown}}}},
		answer("m2", use(0, 9000, prompt-9000), said("I think about it.")),
		answer("m3", use(0, prompt, 30), said("And again.")),
		answer("m4", use(0, prompt+30, 30), said("Three times.")),
	}
}

func numberedLines(text string) string {
	var b strings.Builder
	for i, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		b.WriteString(strconv.Itoa(i+1) + "\t" + line + "\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func writeLines(t *testing.T, file string, lines []map[string]any) {
	t.Helper()
	var text bytes.Buffer
	for _, line := range lines {
		require.NoError(t, json.NewEncoder(&text).Encode(line))
	}
	require.NoError(t, os.WriteFile(file, text.Bytes(), 0o600))
}

// TestGainAgreesWithReplay checks that the saving which replay predicts for a hook in a session equals the
// saving that gain reports after the same session ran with the hook.
func TestGainAgreesWithReplay(t *testing.T) {
	w := newWorld(t)
	whole := filepath.Join(w.state, "whole.jsonl")
	writeLines(t, whole, story(numberedLines(source()), 20_000))
	said, _, err := replay.Replay(t.Context(), replay.Settings{Files: []string{whole}, Policies: []replay.Policy{replay.Hook}})
	require.NoError(t, err)
	foreseen := said.Policies[replay.Hook].(replay.Pruning).Net / 100 * said.Bill // no result is fetched again

	writeLines(t, w.transcript, story("", 20_000)[:2])
	answer := w.hook([]string{"claude"}, w.message("Read", map[string]any{"file_path": "/r/store.go"}, readResponse(source(), 1)))
	file := child(child(hookOutput(t, answer), "updatedToolOutput"), "file")
	writeLines(t, w.transcript, story(text(file, "content"), 12_000))
	code, text := gainVerb(w, "--json")
	require.Zero(t, code, text)
	var g Gain
	require.NoError(t, json.Unmarshal([]byte(text), &g))
	t.Logf("replay foresaw %.0f, gain says %.0f", foreseen, g.Total.Net)
	require.InEpsilon(t, foreseen, g.Total.Net, 0.05)
}

// TestSubAgentsAskTheirOwnQuestions checks that a sub-agent's results are pruned by its own transcript, and
// that gain finds its calls there.
func TestSubAgentsAskTheirOwnQuestions(t *testing.T) {
	w := newWorld(t)
	w.say("I look at handler7.")
	agent := filepath.Join(strings.TrimSuffix(w.transcript, ".jsonl"), "subagents", "agent-a1.jsonl")
	require.NoError(t, os.MkdirAll(filepath.Dir(agent), 0o700))
	lines := story(numberedLines(source()), 20_000)
	for _, line := range lines {
		line["isSidechain"], line["agentId"] = true, "a1"
	}
	writeLines(t, agent, lines[:2])
	message := w.message("Read", map[string]any{"file_path": "/r/store.go"}, readResponse(source(), 1))
	message["agent_id"] = "a1"
	answer := w.hook([]string{"claude"}, message)
	require.Contains(t, answer, "func openLedger", "the sub-agent's question")
	writeLines(t, agent, lines)
	code, text := gainVerb(w, "--json")
	require.Zero(t, code, text)
	var g Gain
	require.NoError(t, json.Unmarshal([]byte(text), &g))
	require.Equal(t, 1, g.Total.Results)
	require.Zero(t, g.Unknown, "its transcript is read as its own")
	require.Positive(t, g.Total.Bill)
}
