package wire

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTools(t *testing.T) {
	type tool struct {
		name       string
		parameters []string
	}
	toolsOf := func(c *Conversation) (all []tool) {
		c.Tools(func(name string, parameters []string) bool {
			all = append(all, tool{name, parameters})
			return true
		})
		return all
	}
	for path, c := range map[string]struct {
		body string
		want []tool
	}{
		"/v1/messages":                     {`{"messages":[],"tools":[{"name":"Bash","input_schema":{"name":"x"}},{"type":"web_search_20250305","name":"web_search"},7]}`, []tool{{"Bash", []string{}}, {"web_search", nil}}},
		"/v1/responses":                    {`{"input":[],"tools":[{"type":"function","name":"exec_command","parameters":{"properties":{"cmd":{}}}},{"type":"local_shell"},{"type":"namespace","name":"mcp__pruner","tools":[{"type":"function","name":"read"}]}]}`, []tool{{"exec_command", []string{"cmd"}}, {"local_shell", nil}, {"mcp__pruner__read", nil}}},
		"/v1/chat/completions":             {`{"messages":[],"tools":[{"type":"function","function":{"name":"bash","parameters":{"properties":{"command":{},"cwd":{}}}}}]}`, []tool{{"bash", []string{"command", "cwd"}}}},
		"/v1beta/models/m:generateContent": {`{"contents":[],"tools":[{"functionDeclarations":[{"name":"read_file","parametersJsonSchema":{"properties":{"path":{}}}}]},{"googleSearch":{}}]}`, []tool{{"read_file", []string{"path"}}, {}}},
	} {
		parsed, err := APIOf(path).Parse([]byte(c.body))
		require.NoError(t, err)
		assert.Equal(t, c.want, toolsOf(parsed), path)
	}
	code, err := APIOf("/v1/responses").Parse([]byte(`{"input":[{"type":"additional_tools","id":"at_1","role":"developer","tools":[
		{"type":"namespace","name":"functions","description":"","tools":[{"type":"custom","name":"exec"}]}]}]}`))
	require.NoError(t, err)
	assert.Equal(t, []tool{{name: "exec"}}, toolsOf(code), "in which newer models of Codex have them")
	parsed, err := APIOf("/v1/messages").Parse([]byte(`{"messages":[]}`))
	require.NoError(t, err)
	assert.Empty(t, toolsOf(parsed))
}
