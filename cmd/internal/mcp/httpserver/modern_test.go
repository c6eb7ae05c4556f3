package httpserver

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const modernVersion = "2026-07-28"

// modern returns a message of protocol 2026-07-28.
func modern(method string, params map[string]any) string {
	if params == nil {
		params = map[string]any{}
	}
	params["_meta"] = map[string]any{
		"io.modelcontextprotocol/protocolVersion":    modernVersion,
		"io.modelcontextprotocol/clientCapabilities": map[string]any{},
	}
	return message(method, params)
}

// Headers must equal the body: otherwise a body that calls bash could pass a proxy that permits only read.
func TestHeadersMustBeThoseOfTheBody(t *testing.T) {
	p := newPlace(t, nil)
	p.file("a.txt", "hello\n")
	read := modern("tools/call", map[string]any{"name": "read", "arguments": map[string]any{"file_path": "a.txt"}})
	bash := modern("tools/call", map[string]any{"name": "bash", "arguments": map[string]any{"command": "touch ran"}})
	unasked := modern("tools/call", map[string]any{"name": "read", "arguments": map[string]any{"file_path": "a.txt"}, "requestState": "s",
		"inputResponses": map[string]any{"name": map[string]any{"action": "decline"}}}) // no tool asks, so nothing waits for it
	version, method, name := "Mcp-Protocol-Version: "+modernVersion, "Mcp-Method: tools/call", "Mcp-Name: read"
	for what, c := range map[string]struct {
		body    string
		headers []string
		status  int
		code    int
	}{
		"as it should be":    {read, []string{version, method, name}, 200, 0},
		"an unasked answer":  {unasked, []string{version, method, name}, 200, 0},
		"another tool":       {bash, []string{version, method, name}, 400, -32020},
		"no name":            {bash, []string{version, method}, 400, -32020},
		"no method":          {bash, []string{version, name}, 400, -32020},
		"another method":     {bash, []string{version, "Mcp-Method: tools/list", name}, 400, -32020},
		"no version":         {read, []string{method, name}, 400, -32020},
		"another version":    {read, []string{"Mcp-Protocol-Version: 2025-06-18", method, name}, 400, -32020},
		"no version in body": {call("read", map[string]any{"file_path": "a.txt"}), []string{version, method, name}, 400, -32602},
		"resuming":           {read, []string{version, method, name, "Last-Event-ID: 7"}, 400, -32020},
		"unknown method":     {modern("no/such", nil), []string{version, "Mcp-Method: no/such"}, 404, -32601},
		"no handshake":       {modern("initialize", nil), []string{version, "Mcp-Method: initialize"}, 404, -32601},
		"no JSON":            {"{", []string{version, method, name}, 400, -32700},
		"no capabilities":    {strings.Replace(bash, `"io.modelcontextprotocol/clientCapabilities":{},`, "", 1), []string{version, method, "Mcp-Name: bash"}, 400, -32602},
		"bad arguments":      {modern("tools/call", map[string]any{"name": "read", "arguments": map[string]any{}}), []string{version, method, name}, 400, -32602},
		"list":               {modern("tools/list", nil), []string{version, "Mcp-Method: tools/list"}, 200, 0},
		"discover":           {modern("server/discover", nil), []string{version, "Mcp-Method: server/discover"}, 200, 0},
	} {
		response, text := p.post(c.body, c.headers...)
		assert.Equal(t, c.status, response.StatusCode, what)
		assert.Equal(t, c.code, decodeAnswer(t, text).Error.Code, "%s: %s", what, text)
		assert.Empty(t, response.Header.Get("Mcp-Session-Id"))
	}
	assert.False(t, p.has("ran"))
}

// TestAnUnknownVersionIsToldWhichAreServed proves that a version of the future and one of the past get the same answer.
func TestAnUnknownVersionIsToldWhichAreServed(t *testing.T) {
	p := newPlace(t, nil)
	for _, version := range []string{"2099-01-01", "1900-01-01"} {
		for name, body := range map[string]string{
			"in the body too": strings.ReplaceAll(modern("tools/list", nil), modernVersion, version), "in the header only": message("tools/list", nil),
		} {
			if version > modernVersion && name == "in the header only" {
				continue // the header contradicts the body then
			}
			response, text := p.post(body, "Mcp-Protocol-Version: "+version, "Mcp-Method: tools/list")
			assert.Equal(t, 400, response.StatusCode, "%s %s", version, name)
			var a struct {
				Error struct {
					Code int
					Data struct{ Supported []string }
				}
			}
			require.NoError(t, json.Unmarshal([]byte(text), &a), text)
			assert.Equal(t, -32022, a.Error.Code, "%s %s: %s", version, name, text)
			assert.Contains(t, a.Error.Data.Supported, modernVersion)
			assert.NotContains(t, a.Error.Data.Supported, "2025-03-26", "it wants batches")
		}
	}
}
