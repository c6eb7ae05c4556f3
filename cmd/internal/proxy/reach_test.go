package proxy

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	responsesPath = "/v1/responses"
	chatPath      = "/v1/chat/completions"
)

// What stands in the place of a result names a way that this session can go. Where there is none, the result stays: that of a
// command, a search or a page. A file is read again.
func TestTheWayBackWorksWhereTheAgentIs(t *testing.T) {
	const command, none = "`mcp-pruner recover prn_", ""
	named := func(names ...string) string {
		var tools []string
		for _, name := range names {
			tools = append(tools, fmt.Sprintf(`{"name":%q}`, name))
		}
		return strings.Join(tools, ",")
	}
	taking := func(name, parameter string) string {
		return fmt.Sprintf(`{"name":%q,"input_schema":{"type":"object","properties":{%q:{"type":"string"}}}}`, name, parameter)
	}
	for _, c := range []struct{ path, tools, way string }{
		{messagesPath, named("mcp__pruner__read", "Edit"), "`mcp__pruner__read file_path prn_"},
		{messagesPath, named("mcp__pruner__read", "mcp__pruner__grep"), "`mcp__pruner__read file_path prn_"},
		{messagesPath, named("mcp__pruner__context_get"), "`mcp__pruner__context_get segment_id prn_"},
		{messagesPath, named("mcp__pruner__read", "Bash"), command},
		{messagesPath, named("PowerShell"), command},
		{messagesPath, named("Read", "Edit"), none},
		{messagesPath, named("mcp__sandbox__bash", "mcp__other__read", "bash_code_execution", "BashOutput", "SlashCommand", "run_tests"), none},
		{messagesPath, named("mcp__pruner__recover_text"), none}, // it knows none of this machine's files
		{messagesPath, "", none},
		{messagesPath, taking("Bash", "command"), command},
		{messagesPath, taking("shell", "q"), none}, // of somebody else, as the next two
		{messagesPath, taking("mcp__x__context_get", "id"), none},
		{messagesPath, taking("mcp__pruner__read", "book"), none},
		{messagesPath, taking("mcp__pruner__read", "file_path"), "`mcp__pruner__read file_path prn_"},
		{messagesPath, taking("mcp__x__context_get", "id") + "," + taking("mcp__gw__context_get", "segment_id"), "`mcp__gw__context_get segment_id prn_"},
		{chatPath, `{"type":"function","function":{"name":"bash","parameters":{"properties":{"script_id":{}}}}}`, none},
		{responsesPath, `{"type":"function","name":"shell","parameters":{"type":"object","properties":{"q":{}}}}`, none},
		{geminiPath, `{"functionDeclarations":[{"name":"run_shell_command","parametersJsonSchema":{"properties":{"q":{}}}}]}`, none},
		{geminiPath, `{"functionDeclarations":[{"name":"run_shell_command","parameters":{"properties":{"command":{}}}}]}`, command},
		{responsesPath, `{"type":"function","name":"exec_command"}`, command},
		{responsesPath, `{"type":"custom","name":"exec"}`, command},
		{responsesPath, `{"type":"local_shell"}`, command},
		{responsesPath, `{"type":"namespace","name":"mcp__pruner","tools":[{"type":"function","name":"read"}]}`, "`mcp__pruner__read file_path prn_"},
		{responsesPath, `{"type":"function","name":"write_stdin"},{"type":"web_search"}`, none},
		{chatPath, `{"type":"function","function":{"name":"bash"}}`, command},
		{chatPath, `{"type":"function","function":{"name":"pruner_read"}}`, "`pruner_read file_path prn_"},
		{chatPath, `{"type":"function","function":{"name":"webfetch"}}`, none},
		{geminiPath, `{"functionDeclarations":[{"name":"read_file"},{"name":"run_shell_command"}]}`, command},
		{geminiPath, `{"function_declarations":[{"name":"run_shell_command"}]}`, command},
		{geminiPath, `{"functionDeclarations":[{"name":"mcp_pruner_read"}]}`, "`mcp_pruner_read file_path prn_"},
		{geminiPath, `{"functionDeclarations":[{"name":"read_file"}]},{"googleSearch":{}}`, none},
	} {
		r := newRig(t, database(t), GC)
		got := string(r.post(t, c.path, withTools(t, c.path, c.tools)))
		if c.way == none {
			assert.Zero(t, strings.Count(got, "[cleared"), c.tools)
			continue
		}
		assert.Contains(t, got, ": 120 lines; "+c.way, c.tools)
	}
}

// withTools returns a history of an API's client whose request offers tools.
func withTools(t *testing.T, path, tools string) []byte {
	t.Helper()
	body := map[string]func(int) []byte{
		messagesPath: claudeHistory, responsesPath: responsesHistory, chatPath: chatHistory, geminiPath: geminiHistory,
	}[path](40)
	i := bytes.Index(body, []byte(`"tools":[`))
	require.Positive(t, i)
	end := bytes.Index(body[i:], []byte(`],"`)) + i
	return append(append(append([]byte(nil), body[:i]...), `"tools":[`+tools...), body[end:]...)
}

// When the client takes away what leads back, what it led to comes back, and the cache is lost by the client's own change. A request that
// may fill the model's window stays as short as it was.
func TestAStubThatLeadsNowhereIsTakenBack(t *testing.T) {
	r := newRig(t, database(t), GC)
	with := func(n int, tools string) []byte {
		return bytes.Replace(claudeHistory(n), []byte(`{"name":"Bash"}`), []byte(tools), 1)
	}
	const shell, none, own = `{"name":"Bash"}`, `{"name":"WebSearch"}`, `{"name":"mcp__pruner__context_get"}`
	for _, n := range []int{36, 60} {
		sent := string(r.post(t, messagesPath, with(n, shell)))
		require.Contains(t, sent, "[cleared ")
		short := string(r.post(t, messagesPath, with(n, none)))
		if n == 60 {
			assert.Equal(t, cleared([]byte(sent)), cleared([]byte(short)), "it has more than 100,000 tokens")
			continue
		}
		assert.Equal(t, string(with(n, none)), short)
		assert.Equal(t, string(with(n+1, none)), string(r.post(t, messagesPath, with(n+1, none))), "and it stays so")
		other := string(r.post(t, messagesPath, with(n+2, own)))
		assert.Contains(t, other, "; `mcp__pruner__context_get segment_id prn_", "another way leads back")
		assert.NotContains(t, other, "mcp-pruner recover")
		assert.Equal(t, sent, string(r.post(t, messagesPath, with(n, shell))), "as before")
	}
}

// A session that only reads files and fetches pages: what was read is cleared, and the stub says to read it again.
func TestASessionWithoutAShellReadsAgain(t *testing.T) {
	tools := []any{map[string]any{"name": "Read"}, map[string]any{"name": "WebFetch"}, map[string]any{"name": "Write"}}
	history := func(n int) []byte {
		m := []any{map[string]any{"role": "user", "content": "find the bug"}}
		for i := range n {
			id, use := fmt.Sprintf("toolu_%d", i), map[string]any{"file_path": fmt.Sprintf("/r/%d.go", i)}
			name := "Read"
			if i%2 == 1 {
				name, use = "WebFetch", map[string]any{"url": fmt.Sprintf("https://example.org/%d", i), "prompt": "all"}
			}
			m = append(m,
				map[string]any{"role": "assistant", "content": []any{map[string]any{"type": "tool_use", "id": id, "name": name, "input": use}}},
				map[string]any{"role": "user", "content": []any{map[string]any{"type": "tool_result", "tool_use_id": id, "content": output(i)}}})
		}
		return ordered("model", "claude", "system", strings.Repeat("You are an agent. ", 2000), "tools", tools, "messages", m)
	}
	r := newRig(t, database(t), GC)
	for n := 1; n < 60; n++ {
		r.post(t, messagesPath, history(n))
	}
	cold := bytes.Replace(history(60), []byte(`"claude"`), []byte(`"claude-2"`), 1)
	got := string(r.post(t, messagesPath, cold))
	assert.Greater(t, strings.Count(got, "lines; read the file again to see them]"), 10)
	assert.Equal(t, strings.Count(got, "[cleared"), strings.Count(got, "[cleared Read "))
	assert.NotContains(t, got, "recover")
	for i := 1; i < 60; i += 2 {
		assert.Contains(t, got, fmt.Sprintf("line of the output of call %d,", i), "a page stays")
	}
	assert.True(t, got == string(r.post(t, messagesPath, cold)))
}

// The header of a new result names the same way.
func TestANewResultIsCutWhereTheAgentCanFollow(t *testing.T) {
	var text strings.Builder
	for i := range 900 {
		fmt.Fprintf(&text, "%d\tfunc step%d() { beta(%d); gamma(%d) }\n", i+1, i, i, i)
	}
	fmt.Fprintf(&text, "901\tfunc flushQueue() { queue.Flush() }\n")
	for _, c := range []struct{ tools, way string }{
		{`{"name":"Read"}`, "lines; rest: read that range of the file again]"},
		{`{"name":"Read"},{"name":"mcp__pruner__read"}`, "lines; all: `mcp__pruner__read file_path prn_"},
		{`{"name":"Read"},{"name":"Bash"}`, "lines; rest: `mcp-pruner recover prn_"},
		{`{"name":"Edit"}`, ""},
	} {
		r := newRig(t, database(t), Prune)
		body := bytes.Replace(oneCall("where is the queue flushed", "t1", "Read", "", text.String()), []byte(`"command":""`), []byte(`"file_path":"/r/a.go"`), 1)
		body = bytes.Replace(body, []byte(`{"name":"Read"},{"name":"Bash"}`), []byte(c.tools), 1)
		got := string(r.post(t, messagesPath, body))
		if c.way == "" {
			assert.Equal(t, string(body), got)
			continue
		}
		assert.Contains(t, got, c.way)
		assert.Contains(t, got, "901\\tfunc flushQueue")
		assert.Equal(t, got, string(r.post(t, messagesPath, []byte(got))), "a cut text is not cut again")
	}
}

// A hook has cut what was read, and the header says to read it again. What the second Read brings is cut by nobody.
func TestAFileThatIsReadAgainStaysWhole(t *testing.T) {
	var text strings.Builder
	for i := range 900 {
		fmt.Fprintf(&text, "%d\tfunc step%d() { beta(%d); gamma(%d) }\n", i+1, i, i, i)
	}
	body := func(first string) []byte {
		m := []any{map[string]any{"role": "user", "content": "where is step7 called"}}
		for id, result := range []string{first, text.String()} {
			use := map[string]any{"type": "tool_use", "id": fmt.Sprint(id), "name": "Read", "input": map[string]any{"file_path": "/r/a.go"}}
			m = append(m, map[string]any{"role": "assistant", "content": []any{use}},
				map[string]any{"role": "user", "content": []any{map[string]any{"type": "tool_result", "tool_use_id": fmt.Sprint(id), "content": result}}})
		}
		return ordered("model", "claude", "tools", []any{map[string]any{"name": "Read"}}, "messages", m)
	}
	r := newRig(t, database(t), Prune)
	again := body("[1 of 900 lines; rest: read that range of the file again]\n     8\tfunc step7() { beta(7); gamma(7) }")
	assert.Equal(t, string(again), string(r.post(t, messagesPath, again)))
	other := body("     8\tfunc step7() { beta(7); gamma(7) }")
	assert.NotEqual(t, string(other), string(r.post(t, messagesPath, other)), "nothing was cut before")
}
