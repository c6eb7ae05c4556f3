package sessions

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// transcriptsOfClients have one session each, in which the agent runs a command that fails and says so, as the clients of
// docs/clients/table.md write it.
var transcriptsOfClients = map[string]string{
	"copilot": `{"type":"session.start","data":{"sessionId":"s1","copilotVersion":"1.0.102","startTime":"2026-11-24T18:45:05.530Z","context":{"cwd":"/w"}},"timestamp":"2026-11-24T18:45:05.605Z"}
{"type":"user.message","data":{"content":"find it"},"timestamp":"2026-11-24T18:45:05.965Z"}
{"type":"session.usage_record","data":{"usage":{"model":"gpt-5.1","inputTokens":100,"outputTokens":10,"cacheReadTokens":60,"cacheWriteTokens":0}},"timestamp":"2026-11-24T18:45:15.530Z"}
{"type":"assistant.message","data":{"content":"I look.","toolRequests":[{"toolCallId":"c1","name":"bash","arguments":{"command":"make"}}]}}
{"type":"tool.execution_complete","data":{"toolCallId":"c1","success":false,"result":{"content":""},"error":{"message":"no rule"}}}
{"type":"session.usage_record","data":{"usage":{"model":"gpt-5.1","inputTokens":120,"outputTokens":10,"cacheReadTokens":100,"cacheWriteTokens":0}}}
{"type":"assistant.message","data":{"content":"No rule.","toolRequests":[]}}
`,
	"qwen": `{"sessionId":"s1","timestamp":"2026-11-24T18:45:05.530Z","type":"user","cwd":"/w","version":"0.24.4","message":{"role":"user","parts":[{"text":"find it"}]}}
{"sessionId":"s1","timestamp":"2026-11-24T18:45:06Z","type":"system","subtype":"ui_telemetry","systemPayload":{}}
{"sessionId":"s1","timestamp":"2026-11-24T18:45:15.530Z","type":"assistant","model":"gpt-5.1","message":{"role":"model","parts":[{"text":"I look."},{"functionCall":{"id":"c1","name":"bash","args":{"command":"make"}}}]},"usageMetadata":{"promptTokenCount":100,"candidatesTokenCount":10,"thoughtsTokenCount":0,"cachedContentTokenCount":60}}
{"sessionId":"s1","type":"tool_result","message":{"role":"user","parts":[{"functionResponse":{"id":"c1","name":"bash","response":{"error":"no rule"}}}]}}
{"sessionId":"s1","type":"assistant","model":"gpt-5.1","message":{"role":"model","parts":[{"text":"No rule."}]},"usageMetadata":{"promptTokenCount":120,"candidatesTokenCount":10,"cachedContentTokenCount":100}}
`,
	"cline": `{"version":1,"sessionId":"s1","origin":{"version":"3.0.65"},"messages":[
{"role":"user","content":[{"type":"text","text":"<user_input mode=\"act\">find it</user_input>"}],"ts":1795891505965},
{"role":"assistant","content":[{"type":"text","text":"I look."},{"type":"tool_use","id":"c1","name":"bash","input":{"command":"make"}}],"ts":1795891515530,"modelInfo":{"id":"gpt-5.1"},"metrics":{"inputTokens":100,"outputTokens":10,"cacheReadTokens":60,"cacheWriteTokens":0}},
{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","name":"bash","content":[{"query":"make","result":"no rule","error":"status 2","success":false}]}]},
{"role":"assistant","content":[{"type":"text","text":"No rule."}],"ts":1795891516530,"modelInfo":{"id":"gpt-5.1"},"metrics":{"inputTokens":120,"outputTokens":10,"cacheReadTokens":100}}]}`,
	"pi": `{"type":"session","version":3,"id":"s1","timestamp":"2026-11-24T18:45:05.530Z","cwd":"/w"}
{"type":"message","message":{"role":"user","content":[{"type":"text","text":"find it"}]}}
{"type":"message","timestamp":"2026-11-24T18:45:15.530Z","message":{"role":"assistant","model":"gpt-5.1","content":[{"type":"text","text":"I look."},{"type":"toolCall","id":"c1","name":"bash","arguments":{"command":"make"}}],"usage":{"input":40,"output":10,"cacheRead":60,"cacheWrite":0}}}
{"type":"message","message":{"role":"toolResult","toolCallId":"c1","toolName":"bash","content":[{"type":"text","text":"no rule"}],"isError":true}}
{"type":"message","message":{"role":"assistant","model":"gpt-5.1","content":[{"type":"text","text":"No rule."}],"usage":{"input":20,"output":10,"cacheRead":100,"cacheWrite":0}}}
`,
}

func TestTranscriptsOfClients(t *testing.T) {
	for client, text := range transcriptsOfClients {
		t.Run(client, func(t *testing.T) {
			got := readFrom(t, client, text)
			require.Len(t, got, 1)
			s := got[0]
			assert.Equal(t, client, s.Source)
			assert.Equal(t, "s1", s.ID)
			assert.Equal(t, "/w", s.Project)
			assert.Equal(t, []Kind{User, Call, Say, Use, Result, Call, Say}, kinds(s))
			assert.Equal(t, "gpt-5.1", s.Model())
			var calls []Step
			for _, step := range s.Steps {
				switch step.Kind {
				case Call:
					calls = append(calls, step)
				case Result:
					assert.Equal(t, "bash", step.Tool)
					assert.Equal(t, map[string]any{"command": "make"}, step.Args)
					assert.Equal(t, "no rule", step.Out)
					assert.True(t, step.Err)
				}
			}
			assert.Equal(t, &Usage{Input: 40, CacheRead: 60, Output: 10}, calls[0].Usage)
			assert.Equal(t, 10*time.Second, calls[0].At)
		})
	}
}

// readFrom reads a transcript from a file with a name as the client gives it.
func readFrom(t *testing.T, client, text string) []Session {
	t.Helper()
	if client != "cline" {
		return read(t, "a.jsonl", text)
	}
	path := filepath.Join(t.TempDir(), "s1.messages.json")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	about := filepath.Join(filepath.Dir(path), "s1.json")
	require.NoError(t, os.WriteFile(about, []byte(`{"cwd":"/w","started_at":"2026-11-28T18:45:05.530Z"}`), 0o600))
	files, err := Files([]string{filepath.Dir(path)})
	require.NoError(t, err)
	require.Equal(t, []string{path}, files, "the other file is none")
	var got []Session
	require.NoError(t, ReadFile(t.Context(), path, func(s Session) error { got = append(got, s); return nil }))
	return got
}

// TestPartsOfACall: a call of Cline that runs several commands has a result for each, as its plugin prunes each by itself.
func TestPartsOfACall(t *testing.T) {
	got := readFrom(t, "cline", `{"sessionId":"s1","messages":[{"role":"assistant","content":[
{"type":"tool_use","id":"c1","name":"run_commands","input":{"commands":["ls",{"command":"make"}]}},
{"type":"tool_use","id":"c2","name":"read_files","input":{"files":[{"path":"a.go","start_line":3}]}}]},
{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","name":"run_commands","content":[{"result":"a.go","success":true},{"result":"built","success":true}]},
{"type":"tool_result","tool_use_id":"c2","name":"read_files","content":"not found"}]}]}`)
	require.Len(t, got, 1)
	var results []Step
	for _, step := range got[0].Steps {
		if step.Kind == Result {
			results = append(results, step)
		}
	}
	require.Len(t, results, 3)
	for i, want := range []struct {
		args map[string]any
		out  string
	}{
		{map[string]any{"command": "ls"}, "a.go"},
		{map[string]any{"command": "make"}, "built"},
		{map[string]any{"path": "a.go", "start_line": 3.}, "not found"},
	} {
		assert.Equal(t, want.args, results[i].Args)
		assert.Equal(t, want.out, results[i].Out)
	}
}
