package wire

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
)

// The lifetime of a cache entry is read from the request's cache marks, however they are written, and from nothing else.
func TestCacheLifetime(t *testing.T) {
	for body, hour := range map[string]bool{
		`{"messages":[],"system":[{"type":"text","text":"x","cache_control":{"type":"ephemeral","ttl":"1h"}}]}`:                                     true,
		`{"messages":[],"system":[{"type":"text","text":"x","cache_control":{"type":"ephemeral", "ttl" : "1h"}}]}`:                                  true,
		"{\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"x\",\"cache_control\":{\"ttl\":\n\"1h\"}}]}]}":                true,
		`{"messages":[],"tools":[{"name":"x","input_schema":{},"cache_control":{"type":"ephemeral","ttl": "1h"}}]}`:                                 true,
		`{"messages":[],"cache_control":{"type":"ephemeral","ttl": "1h"}}`:                                                                          true,
		`{"messages":[],"cache_control":{"type":"ephemeral","ttl":"5m"}}`:                                                                           false,
		`{"messages":[],"metadata":{"ttl":"1h"}}`:                                                                                                   false,
		`{"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"dns","input":{"ttl":"1h"}}]}]}`:                            false,
		`{"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"x","input":{"cache_control":{"ttl":"1h"}}}]}]}`:            false,
		`{"messages":[{"role":"user","content":"\"cache_control\":{\"ttl\":\"1h\"}"}]}`:                                                             false,
		`{"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"text":"x","cache_control":{"ttl":"1h"}}]}]}]}`: true,
	} {
		c, err := APIOf("/messages").Parse([]byte(body))
		require.NoError(t, err, body)
		assert.Equal(t, hour, c.Life == LongLife, body)
	}
}

// Prices are those of the request's model, in every API; Gemini's has it in the path.
func TestWhichModelIsAsked(t *testing.T) {
	for path, body := range map[string]string{
		"/messages": `{"model":"m","messages":[]}`, "/responses": `{"model":"m","input":[]}`, "/chat/completions": `{"model":"m","messages":[]}`,
	} {
		c, err := APIOf(path).Parse([]byte(body))
		require.NoError(t, err, body)
		assert.Equal(t, "m", c.Model, path)
	}
	c, err := APIOf("/models/gemini-3-pro:generateContent").Parse([]byte(`{"contents":[]}`))
	require.NoError(t, err)
	assert.Equal(t, "gemini", c.Model)
}

// The plugin of opencode replaces outputs by call id, so that an output whose id is not its own stays whole.
func TestOpencodeOutputsWithEqualIds(t *testing.T) {
	before := encoded(t, []any{map[string]any{"parts": []any{
		map[string]any{"type": "tool", "callID": "a", "state": map[string]any{"output": "1"}},
		map[string]any{"type": "tool", "callID": "a", "state": map[string]any{"output": "2"}},
		map[string]any{"type": "tool", "callID": "b", "state": map[string]any{"output": "3"}}}}})
	changed, err := OpencodeOutputs(before, bytes.ReplaceAll(bytes.ReplaceAll(before, []byte(`"1"`), []byte(`"x"`)), []byte(`"3"`), []byte(`"y"`)))
	require.NoError(t, err)
	assert.Equal(t, map[string]string{"b": "y"}, changed)
}

// encoded returns the JSON of a value.
func encoded(t *testing.T, v any) []byte {
	t.Helper()
	text, err := json.Marshal(v)
	require.NoError(t, err)
	return text
}

func TestUsageOfOthers(t *testing.T) {
	for text, want := range map[string]contextgc.Usage{
		`{"model":"gpt-x","usage":{"input_tokens":100,"input_tokens_details":{"cached_tokens":60},"output_tokens":5}}`: {Model: "gpt-x", Input: 40, Read: 60, Output: 5},
		`{"usage":{"prompt_tokens":100,"prompt_tokens_details":{"cached_tokens":0},"completion_tokens":5}}`:            {Input: 100, Output: 5},
		`{"usageMetadata":{"promptTokenCount":70,"cachedContentTokenCount":30,"candidatesTokenCount":2}}`:              {Input: 40, Read: 30, Output: 2},
		`{"usage":{"input_tokens":7},"content":[{"type":"tool_use","input":{"output_tokens":9223372036854775807}}]}`:   {Input: 7},
	} {
		assert.Equal(t, want, UsageIn([]byte(text)))
	}
}

// A provider that is added to the list of providers is routed to by its paths and keys, its requests are parsed, and its
// clients are refused in its own form: nothing else has to know it.
func TestAProviderIsOneValue(t *testing.T) {
	acme := &Provider{
		Name: "Acme", URL: &url.URL{Scheme: "https", Host: "api.acme.example"}, headers: "x-acme-key", keyHeader: "X-Acme-Key", prefixes: []string{"acme-"},
		folders: []string{"acme"}, apis: []API{{Name: "acme-talk", suffix: "/talk", parse: parseChat}},
		refusal: func(_ int, _, text string) any { return map[string]any{"complaint": text} },
	}
	defer func(before []*Provider) { providers = before }(providers)
	providers = append(slices.Clone(providers), acme)
	request := func(path, header, key string) *http.Request {
		r := httptest.NewRequest(http.MethodPost, path, nil)
		r.Header.Set(header, key)
		return r
	}
	for _, r := range []*http.Request{request("/acme/talk", "X-Acme-Key", "any"), request("/acme/talk", "Authorization", "Bearer acme-1")} {
		to, why := Route(r)
		assert.Same(t, acme, to, why)
	}
	for want, r := range map[string]*http.Request{
		"its path is one of Acme, but its key is in the form of OpenAI (Authorization: Bearer)":    request("/acme/talk", "Authorization", "Bearer sk-1"),
		"its path is one of Anthropic, but its key is in the form of Acme (x-acme-key)":            request("/v1/messages", "X-Acme-Key", "any"),
		"it is in the form of Anthropic, but its key was issued by another provider":               request("/v1/messages", "X-Api-Key", "acme-1"),
		"the header api-key is no kind of key that Anthropic, OpenAI, ChatGPT, Gemini or Acme use": request("/acme/talk", "Api-Key", "any"),
	} {
		to, why := Route(r)
		assert.Nil(t, to)
		assert.Equal(t, want, why)
	}
	api := APIOf("/acme/talk")
	require.NotNil(t, api)
	c, err := api.Parse([]byte(requests["/v1/chat/completions"]))
	require.NoError(t, err)
	assert.Len(t, c.Results, 1)
	assert.JSONEq(t, `{"complaint":"no"}`, string(Refusal(request("/acme/talk", "X-Acme-Key", "any"), http.StatusForbidden, "no")))
}
