package wire

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// requests are small requests of each API.
var requests = map[string]string{
	"/v1/messages": `{"system":"s","messages":[{"role":"user","content":"go"},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"Bash",` +
		`"input":{"command":"ls"}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"out"}]}]}]}`,
	"/v1/responses": `{"instructions":"s","input":[{"role":"user","content":[{"type":"input_text","text":"go"}]},{"type":"function_call","call_id":"a",` +
		`"name":"exec_command","arguments":"{\"cmd\":\"ls\"}"},{"type":"function_call_output","call_id":"a","output":"out"}]}`,
	"/v1/chat/completions": `{"messages":[{"role":"system","content":"s"},{"role":"user","content":"go"},{"role":"assistant","content":null,"tool_calls":[` +
		`{"id":"a","type":"function","function":{"name":"bash","arguments":"{\"command\":\"ls\"}"}}]},{"role":"tool","tool_call_id":"a","content":"out"}]}`,
	"/v1beta/models/m:generateContent": `{"contents":[{"role":"user","parts":[{"text":"go"}]},{"role":"model","parts":[{"functionCall":{"name":"run_shell_command",` +
		`"args":{"command":"ls"}}}]},{"role":"user","parts":[{"functionResponse":{"name":"run_shell_command","response":{"output":"out"}}}]}]}`,
}

// Each API's request is the same conversation: a call in the turn after the words, with its result.
func TestEachAPIIsTheSameConversation(t *testing.T) {
	for path, body := range requests {
		c, err := APIOf(path).Parse([]byte(body))
		require.NoError(t, err, path)
		assert.Equal(t, []string{"go"}, c.Words(0)[len(c.Words(0))-1:], path)
		require.Len(t, c.Turns, 2, path)
		require.Len(t, c.Results, 1, path)
		assert.Equal(t, "out", c.Text(c.Results[0]), path)
		for _, argument := range c.Results[0].Use.Args {
			assert.Equal(t, "ls", argument, path)
		}
		replaced := c.Replace([]string{"less"})
		assert.Equal(t, len(replaced.Body), c.SizeWith(c.Results[0], "less"), path)
		again, err := APIOf(path).Parse(replaced.Body)
		require.NoError(t, err, path)
		assert.Equal(t, "less", again.Text(again.Results[0]), path)
	}
}

// A request of nested brackets is refused, so that the proxy passes it on as it came; it does not overflow the stack.
func TestNestedBracketsAreRefused(t *testing.T) {
	nested := strings.Repeat("[", 5<<20) + strings.Repeat("]", 5<<20)
	for path, body := range requests {
		_, err := APIOf(path).Parse([]byte(strings.Replace(body, `"ls"`, nested, 1)))
		if strings.Contains(body, `"ls"`) {
			require.Error(t, err, path)
		}
		encoded := strings.Replace(body, `\"ls\"`, nested, 1)
		c, err := APIOf(path).Parse([]byte(encoded))
		require.NoError(t, err, path)
		require.Len(t, c.Results, 1)
		_ = c.Text(c.Results[0])
	}
}
