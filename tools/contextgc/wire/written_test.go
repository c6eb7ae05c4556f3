package wire

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/tools/jsonspan"
)

// content is the text that a call writes, with every character that JSON escapes.
var content = strings.Repeat("a \"quoted\" line\twith <tags> & ünlike others\n", 40)

// inJSON returns the JSON of a value, as a text.
func inJSON(v any) string { return string(jsonspan.Encode(v)) }

// Every API's form of a call that writes long texts: they are replaced, and everything else is the same, byte for byte.
func TestLongArguments(t *testing.T) {
	write := map[string]any{"content": content, "file_path": "/r/a.go"}
	edits := map[string]any{"edits": []any{map[string]any{"new_string": "short", "old_string": content}, map[string]any{"new_string": content}}, "file_path": "/r/a.go"}
	for path, body := range map[string]func(args any) string{
		"/v1/messages": func(args any) string {
			return `{"messages":[{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"c2ln"},{"type":"tool_use","id":"t1","name":"Write","input":` +
				inJSON(args) + `,"cache_control":{"type":"ephemeral"}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"done"}]}]}`
		},
		"/v1/responses": func(args any) string {
			return `{"input":[{"type":"function_call","call_id":"t1","name":"Write","arguments":` + inJSON(inJSON(args)) + `},{"type":"function_call_output","call_id":"t1","output":"done"}]}`
		},
		"/v1/chat/completions": func(args any) string {
			return `{"messages":[{"role":"assistant","tool_calls":[{"id":"t1","function":{"name":"Write","arguments":` + inJSON(inJSON(args)) + `}}]},{"role":"tool","tool_call_id":"t1","content":"done"}]}`
		},
		"/v1beta/models/x:generateContent": func(args any) string {
			return `{"contents":[{"role":"model","parts":[{"functionCall":{"name":"Write","args":` + inJSON(args) + `},"thoughtSignature":"c2ln"}]},{"role":"user","parts":[{"functionResponse":{"name":"Write","response":{"output":"done"}}}]}]}`
		},
	} {
		for name, args := range map[string]struct{ whole, cleared any }{
			"one":     {write, map[string]any{"content": "[gone]", "file_path": "/r/a.go"}},
			"several": {edits, map[string]any{"edits": []any{map[string]any{"new_string": "short", "old_string": "[gone]"}, map[string]any{"new_string": cleared}}, "file_path": "/r/a.go"}},
		} {
			c, err := APIOf(path).Parse([]byte(body(args.whole)))
			require.NoError(t, err, path)
			new(Keyring).Identify(c)
			r, answered := c.Results[len(c.Results)-2], c.Results[len(c.Results)-1] // before them there may be thinking
			assert.True(t, r.Arguments)
			assert.Same(t, r, answered.Use.Wrote)
			assert.Equal(t, args.whole, c.Written(r.Use), path)
			assert.NotEqual(t, r.Key, answered.Key)
			want := body(args.cleared)
			texts := make([]string, len(c.Results))
			texts[r.Index] = "[gone]"
			got := c.Replace(texts)
			assert.Equal(t, want, string(got.Body), "%s, %s", path, name)
			assert.True(t, json.Valid(got.Body))
			assert.Equal(t, len(want), c.SizeWith(r, "[gone]"))
			if name == "one" {
				assert.Equal(t, content, c.Text(r), "the text as it is")
				continue
			}
			assert.Equal(t, "old_string:\n"+content+"\nnew_string:\n"+content+"\n", c.Text(r))
		}
	}
}

// Codex's patch is one text, and a call with short arguments, or with a long command alone, has nothing to clear.
func TestOtherArguments(t *testing.T) {
	patch := `{"input":[{"type":"custom_tool_call","call_id":"t1","name":"apply_patch","input":` + inJSON(content) + `},{"type":"custom_tool_call_output","call_id":"t1","output":"done"}]}`
	c, err := APIOf("/responses").Parse([]byte(patch))
	require.NoError(t, err)
	require.Len(t, c.Results, 2)
	assert.Equal(t, content, c.Text(c.Results[0]))
	assert.Equal(t, map[string]any{"input": content}, c.Written(c.Results[0].Use))
	assert.Equal(t, strings.Replace(patch, inJSON(content), `"[gone]"`, 1), string(c.Replace([]string{"[gone]", ""}).Body))
	for _, args := range []map[string]any{{"content": "short"}, {"command": content}, {}} {
		body := `{"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Bash","input":` + inJSON(args) + `}]}]}`
		c, err := APIOf("/messages").Parse([]byte(body))
		require.NoError(t, err)
		assert.Empty(t, c.Results)
	}
}
