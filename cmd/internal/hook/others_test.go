package hook

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// rollout writes a transcript of Codex in which the command of call c1 has ended with a status.
func (w *world) rollout(item string) string {
	w.t.Helper()
	file := filepath.Join(w.state, "rollout.jsonl")
	lines := `{"type":"session_meta","payload":{"id":"s"}}
{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"fix it"}]}}
{"type":"response_item","payload":{"type":"function_call","name":"exec_command","arguments":"{\"cmd\":\"go test ./...\"}","call_id":"c1"}}
` + item + "\n"
	require.NoError(w.t, os.WriteFile(file, []byte(lines), 0o600))
	return file
}

// TestCodex checks that a result of Codex's shell is replaced, and that the exit status, of which Codex tells a hook
// nothing, stands in the text and in the original. A result whose status is unknown stays whole.
func TestCodex(t *testing.T) {
	w := newWorld(t)
	m := map[string]any{
		"session_id": "s", "transcript_path": nil, "hook_event_name": "PostToolUse", "model": "gpt-5.5", "tool_name": "Bash",
		"tool_input": map[string]any{"command": "go test ./..."}, "tool_response": failingTests(), "tool_use_id": "c1",
	}
	require.Empty(t, w.hook([]string{"codex"}, m), "without a transcript the status is unknown")
	m["transcript_path"] = w.rollout("")
	require.Empty(t, w.hook([]string{"codex"}, m), "a command whose end is not in the transcript")
	for status, item := range []string{
		`{"type":"event_msg","payload":{"type":"item_completed","item":{"type":"CommandExecution","id":"c1","status":"completed","exit_code":0}}}`,
		`{"type":"event_msg","payload":{"type":"exec_command_end","call_id":"c1","exit_code":1}}`,
		`{"type":"event_msg","payload":{"type":"item_completed","item":{"type":"CommandExecution","id":"c1","status":"failed","exit_code":2}}}`,
	} {
		m["transcript_path"] = w.rollout(item)
		var answer struct{ Decision, Reason string }
		require.NoError(t, json.Unmarshal([]byte(w.hook([]string{"codex"}, m)), &answer))
		require.Equal(t, "block", answer.Decision)
		require.Contains(t, answer.Reason, "want 3 retries, got 4")
		line := fmt.Sprintf("\nProcess exited with code %d\nOutput:\n", status)
		require.Contains(t, answer.Reason, line)
		code, whole := recoverVerb(t, w, regexp.MustCompile("prn_[0-9a-f]+").FindString(answer.Reason))
		require.Zero(t, code)
		require.Equal(t, strings.TrimPrefix(line, "\n")+failingTests(), whole)
		w.later()
	}
}

// TestCodexSaysTheStatusInTheText: where no event of the transcript has the status, that counts which stands before the output, in
// the message or in the transcript. A command that prints such words has no status by that.
func TestCodexSaysTheStatusInTheText(t *testing.T) {
	unified, shell := "Chunk ID: 5f1c02\nWall time: 1.2 seconds\nProcess exited with code 3\nOriginal token count: 9\nOutput:\n", "Exit code: 3\nWall time: 1.2 seconds\nOutput:\n"
	shown, err := json.Marshal(unified + failingTests())
	require.NoError(t, err)
	for _, c := range []struct{ text, item, status string }{
		{text: unified + failingTests(), status: "Process exited with code 3\n"},
		{text: shell + failingTests(), status: "Exit code: 3\n"},
		{text: failingTests(), item: `{"type":"response_item","payload":{"type":"function_call_output","call_id":"c1","output":` + string(shown) + `}}`, status: "Process exited with code 3\n"},
		{text: "Exit code: 3\n" + failingTests()},
		{text: "make\n" + unified + failingTests()},
	} {
		w := newWorld(t)
		answer := w.hook([]string{"codex"}, map[string]any{
			"session_id": "s", "transcript_path": w.rollout(c.item), "hook_event_name": "PostToolUse", "tool_name": "Bash",
			"tool_input": map[string]any{"command": "go test ./..."}, "tool_response": c.text, "tool_use_id": "c1",
		})
		if c.status == "" {
			require.Empty(t, answer)
			continue
		}
		var decoded struct{ Reason string }
		require.NoError(t, json.Unmarshal([]byte(answer), &decoded), c.text[:60])
		require.Contains(t, decoded.Reason, c.status)
		require.Contains(t, decoded.Reason, "want 3 retries, got 4")
	}
}

// TestCodexRunsTheSameCommandAgain: a result that was cut comes whole when the agent runs the command once more, although Codex calls its
// shell Bash in what it tells a hook.
func TestCodexRunsTheSameCommandAgain(t *testing.T) {
	w := newWorld(t)
	for i, want := range []bool{true, false} {
		id := fmt.Sprintf("c%d", i+1)
		m := w.message("Bash", map[string]any{"command": "go test ./..."}, failingTests())
		m["transcript_path"] = w.rollout(`{"type":"event_msg","payload":{"type":"exec_command_end","call_id":"c1","exit_code":1}}
{"type":"response_item","payload":{"type":"function_call_output","call_id":"c1","output":"[9 of 99 lines; rest: ` + "`mcp-pruner recover prn_00000000 --lines A-B`" + `]"}}
{"type":"response_item","payload":{"type":"function_call","name":"exec_command","arguments":"{\"cmd\":\"go test ./...\"}","call_id":"c2"}}
{"type":"event_msg","payload":{"type":"exec_command_end","call_id":"c2","exit_code":1}}`)
		m["tool_use_id"] = id
		require.Equal(t, want, w.hook([]string{"codex"}, m) != "", id)
	}
}

// TestPowerShellIsAShell: what Claude Code's other shell printed is cut as what Bash printed, also as the only way back.
func TestPowerShellIsAShell(t *testing.T) {
	w := newWorld(t)
	w.sayAfter(question, "PowerShell", false)
	m := w.message("PowerShell", map[string]any{"command": "go test ./...", "description": "which test failed and why"},
		map[string]any{"stdout": failingTests(), "stderr": "", "interrupted": false})
	output := child(hookOutput(t, w.hook([]string{"claude"}, m)), "updatedToolOutput")
	require.Contains(t, text(output, "stdout"), "want 3 retries, got 4")
	require.Regexp(t, "recover prn_", text(output, "stdout"))
}

// TestCodexCallsFromCode checks that a call which code made stays whole, because the code would get a replaced result as an
// error. The call's id tells, as seen with Codex 0.169, and not the model's name.
func TestCodexCallsFromCode(t *testing.T) {
	for _, model := range []string{"gpt-5.5", "gpt-5.6-codex", "gpt-6.1-sol", "gpt-daybreak-blue-latest", "my-model"} {
		for id, own := range map[string]bool{"call_1": true, "exec-2b44110a-7df5-4b58-b2af-8d50ee6cbd93": false, "": false} {
			w := newWorld(t)
			answer := w.hook([]string{"codex"}, map[string]any{
				"session_id": "s", "hook_event_name": "PostToolUse", "model": model, "tool_name": "Bash",
				"tool_input": map[string]any{"command": "go test ./..."}, "tool_response": failingTests(), "tool_use_id": id,
				"transcript_path": w.rollout(`{"type":"event_msg","payload":{"type":"exec_command_end","call_id":"` + id + `","exit_code":1}}`),
			})
			require.Equal(t, own, answer != "", "%s %q: %s", model, id, answer)
		}
	}
}

// TestGeminisFenceStays checks that both ends of the fence that marks an output as untrusted stay, and so do the exit
// status and the other lines of Gemini CLI.
func TestGeminisFenceStays(t *testing.T) {
	w := newWorld(t)
	whole := "<untrusted_context>\nOutput: " + failingTests() + "Exit Code: 3\nProcess Group PGID: 1127\n</untrusted_context>"
	m := map[string]any{
		"hook_event_name": "AfterTool", "tool_name": "run_shell_command", "tool_input": map[string]any{"command": "go test ./..."},
		"tool_response": map[string]any{"llmContent": whole},
	}
	var answer struct{ Decision, Reason string }
	require.NoError(t, json.Unmarshal([]byte(w.hook([]string{"gemini", "--replace"}, m)), &answer))
	require.Regexp(t, `^\[\d+ of \d+ lines; .*\]\n<untrusted_context>\nOutput: \n`, answer.Reason)
	require.True(t, strings.HasSuffix(answer.Reason, "\nExit Code: 3\nProcess Group PGID: 1127\n</untrusted_context>"), answer.Reason)
	require.Contains(t, answer.Reason, "want 3 retries, got 4")
	_, original := recoverVerb(t, w, regexp.MustCompile("prn_[0-9a-f]+").FindString(answer.Reason))
	require.Equal(t, whole, original)
}

func TestGeminiOnlyWhereAskedFor(t *testing.T) {
	w := newWorld(t)
	m := map[string]any{
		"hook_event_name": "AfterTool", "tool_name": "run_shell_command", "tool_input": map[string]any{"command": "go test ./..."},
		"tool_response": map[string]any{"llmContent": failingTests()},
	}
	require.Empty(t, w.hook([]string{"gemini"}, m))
	require.Contains(t, w.hook([]string{"gemini", "--replace"}, m), `"decision":"deny"`)
}

func TestOpencode(t *testing.T) {
	w := newWorld(t)
	m := map[string]any{
		"tool": "bash", "callID": "c", "sessionID": "s", "args": map[string]any{"command": "go test ./..."}, "output": failingTests(),
		"said": []any{"which test failed and why"}, "exit": 3,
	}
	var answer struct{ Output string }
	require.NoError(t, json.Unmarshal([]byte(w.hook([]string{"opencode"}, m)), &answer))
	require.Contains(t, answer.Output, "want 3 retries, got 4")
	require.Contains(t, answer.Output, "\nProcess exited with code 3\nOutput:\n")
	delete(m, "exit") // the plugin of an earlier version
	require.NotContains(t, w.hook([]string{"opencode"}, m), "exited")
}
