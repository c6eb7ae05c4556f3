package wire

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Where the thinking of the model stands, in each form in which a client sends it back: behind the first result and before the
// second one. The first result is that of a call with long arguments, which stand behind the thinking of their own answer only.
func TestThoughtAfter(t *testing.T) {
	long := strings.Repeat("package x // ", 100)
	for name, c := range map[string]struct {
		parse func(*Conversation, span) error
		body  string
		model string
		signs bool
	}{
		"messages": {parseMessages, `{"model":"claude-opus-5-5","messages":[{"role":"user","content":"go"},
			{"role":"assistant","content":[{"type":"thinking","thinking":"a","signature":"s"},{"type":"tool_use","id":"1","name":"Write","input":{"file_path":"x.go","content":"` + long + `"}}]},
			{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":"one"}]},
			{"role":"assistant","content":[{"type":"redacted_thinking","data":"b"},{"type":"tool_use","id":"2","name":"Bash","input":{"command":"x"}}]},
			{"role":"user","content":[{"type":"tool_result","tool_use_id":"2","content":"two"}]}]}`, "claude-opus-5-5", true},
		"chat, LiteLLM": {parseChat, `{"model":"anthropic/claude-opus-5-5","messages":[{"role":"user","content":"go"},
			{"role":"assistant","content":"","thinking_blocks":[{"type":"thinking","thinking":"a","signature":"s"}],"tool_calls":[{"id":"1","function":{"name":"write","arguments":"{\"filePath\":\"x.go\",\"content\":\"` + long + `\"}"}}]},
			{"role":"tool","tool_call_id":"1","content":"one"},
			{"role":"assistant","content":"","thinking_blocks":[{"type":"thinking","thinking":"b","signature":"s"}],"tool_calls":[{"id":"2","function":{"name":"bash","arguments":"{}"}}]},
			{"role":"tool","tool_call_id":"2","content":"two"}]}`, "anthropic/claude-opus-5-5", true},
		"chat, OpenRouter": {parseChat, `{"model":"anthropic/claude-opus-5.5","messages":[{"role":"user","content":"go"},
			{"role":"assistant","reasoning_details":[],"tool_calls":[{"id":"1","function":{"name":"write","arguments":"{\"filePath\":\"x.go\",\"content\":\"` + long + `\"}"}}]},
			{"role":"tool","tool_call_id":"1","content":"one"},
			{"role":"assistant","reasoning_details":[{"type":"reasoning.text"}],"tool_calls":[{"id":"2","function":{"name":"bash","arguments":"{}"}}]},
			{"role":"tool","tool_call_id":"2","content":"two"}]}`, "anthropic/claude-opus-5.5", false},
	} {
		conversation, err := (&API{parse: c.parse}).Parse([]byte(c.body))
		require.NoError(t, err, name)
		assert.Equal(t, []any{c.model, c.signs}, []any{conversation.Model, conversation.Signs}, name)
		var after []bool
		for _, r := range conversation.Results {
			if !r.Thought {
				after = append(after, thoughtAfter(conversation, r))
			}
		}
		assert.Equal(t, []bool{true, true, false}, after, "%s: the arguments, the first result, the second one", name)
	}
	conversation, err := ParseOpencode([]byte(`[{"info":{"role":"user","model":{"providerID":"anthropic","modelID":"claude-opus-5-5"}},"parts":[{"type":"text","text":"go"}]},
		{"info":{"role":"assistant","modelID":"claude-opus-5-5"},"parts":[{"type":"reasoning","text":"a","metadata":{"anthropic":{"signature":"s"}}},{"type":"tool","callID":"1","tool":"bash","state":{"input":{},"output":"one"}}]},
		{"info":{"role":"assistant","modelID":"claude-opus-5-5"},"parts":[{"type":"reasoning","text":"b","metadata":{"anthropic":{"signature":"s"}}},{"type":"tool","callID":"2","tool":"bash","state":{"input":{},"output":"two"}}]}]`))
	require.NoError(t, err)
	assert.Equal(t, []any{"claude-opus-5-5", true, true, false},
		[]any{conversation.Model, conversation.Signs, thoughtAfter(conversation, conversation.Results[0]), thoughtAfter(conversation, conversation.Results[1])})
}

// thoughtAfter reports whether thinking stands after a result, whether or not it can be left out.
func thoughtAfter(c *Conversation, r *Result) bool {
	return c.StuckAfter(r) || slices.ContainsFunc(c.Results[r.Index+1:], func(later *Result) bool { return later.Thought })
}
