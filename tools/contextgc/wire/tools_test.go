package wire

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTools(t *testing.T) {
	for path, c := range map[string]struct {
		body string
		want []string
	}{
		"/v1/messages":                     {`{"messages":[],"tools":[{"name":"Bash","input_schema":{"name":"x"}},{"type":"web_search_20250305","name":"web_search"},7]}`, []string{"Bash", "web_search"}},
		"/v1/responses":                    {`{"input":[],"tools":[{"type":"function","name":"exec_command"},{"type":"local_shell"},{"type":"namespace","name":"mcp__pruner","tools":[{"type":"function","name":"read"}]}]}`, []string{"exec_command", "local_shell", "mcp__pruner__read"}},
		"/v1/chat/completions":             {`{"messages":[],"tools":[{"type":"function","function":{"name":"bash"}}]}`, []string{"bash"}},
		"/v1beta/models/m:generateContent": {`{"contents":[],"tools":[{"functionDeclarations":[{"name":"read_file"}]},{"googleSearch":{}}]}`, []string{"read_file", ""}},
	} {
		parsed, err := APIOf(path).Parse([]byte(c.body))
		require.NoError(t, err)
		assert.Equal(t, c.want, parsed.Tools(), path)
	}
	code, err := APIOf("/v1/responses").Parse([]byte(`{"input":[{"type":"additional_tools","id":"at_1","role":"developer","tools":[
		{"type":"namespace","name":"functions","description":"","tools":[{"type":"custom","name":"exec"}]}]}]}`))
	require.NoError(t, err)
	assert.Equal(t, []string{"exec"}, code.Tools(), "in which newer models of Codex have them")
	parsed, err := APIOf("/v1/messages").Parse([]byte(`{"messages":[]}`))
	require.NoError(t, err)
	assert.Empty(t, parsed.Tools())
}
