package verbs

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestRPC compares the answers to single messages, to the byte where it matters.
func TestRPC(t *testing.T) {
	r := start(t)
	fault := func(id string, code int, message string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%q}}`, id, code, message)
	}
	request := func(method, params string) string {
		if params == "" {
			return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q}`, method)
		}
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, method, params)
	}
	result := func(value string) string { return `{"jsonrpc":"2.0","id":1,"result":` + value + `}` }
	initialized := func(version string) string {
		return result(fmt.Sprintf(`{"protocolVersion":%q,"capabilities":{"tools":{}},"serverInfo":{"name":"mcp-pruner","version":%q},"jeeves":{"schemaVersion":1}}`,
			version, buildVersion()))
	}
	invalid := func(method, tool, path, code string) string {
		if tool != "" {
			tool = fmt.Sprintf(`,"tool":%q`, tool)
		}
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Invalid params","data":{"jeeves":{"schemaVersion":1},`+
			`"method":%q%s,"issues":[{"path":%q,"code":%q,"message":%[4]q}]}}}`, method, tool, path, code)
	}
	for name, tc := range map[string]struct {
		request string
		status  int
		want    string // "": no body
	}{
		"ping":                  {request("ping", ""), 200, result(`{}`)},
		"id beyond 2^53":        {`{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}`, 200, `{"jsonrpc":"2.0","id":9007199254740993,"result":{}}`},
		"id byte for byte":      {`{"jsonrpc":"2.0","id":"\u00e9<","method":"ping"}`, 200, `{"jsonrpc":"2.0","id":"\u00e9<","result":{}}`},
		"empty lists":           {request("resources/list", ""), 200, result(`{"resources":[]}`)},
		"empty templates":       {request("resources/templates/list", ""), 200, result(`{"resourceTemplates":[]}`)},
		"empty prompts":         {request("prompts/list", ""), 200, result(`{"prompts":[]}`)},
		"notification":          {`{"jsonrpc":"2.0","method":"notifications/initialized"}`, 202, ``},
		"any notification":      {`{"jsonrpc":"2.0","method":"no/such"}`, 202, ``},
		"stray response":        {`{"jsonrpc":"2.0","id":1,"result":{}}`, 202, ``},
		"not JSON":              {`{"jsonrpc":`, 200, fault("null", -32700, "Parse error")},
		"NaN":                   {`{"jsonrpc":"2.0","id":1,"method":"ping","params":NaN}`, 200, fault("null", -32700, "Parse error")},
		"id not UTF-8":          {`{"jsonrpc":"2.0","id":"` + "\xff" + `","method":"ping","params":{}}`, 200, fault("null", -32700, "Parse error")},
		"empty body":            {``, 200, fault("null", -32700, "Parse error")},
		"batch":                 {`[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, 200, fault("null", -32600, "Invalid Request")},
		"wrong version":         {`{"jsonrpc":"1.0","id":7,"method":"ping"}`, 200, fault("7", -32600, "Invalid Request")},
		"no method":             {`{"jsonrpc":"2.0","id":7}`, 200, fault("7", -32600, "Invalid Request")},
		"id of a wrong type":    {`{"jsonrpc":"2.0","id":{},"method":"ping"}`, 200, fault("null", -32600, "Invalid Request")},
		"unknown method":        {`{"jsonrpc":"2.0","id":1,"method":"foo/bar"}`, 200, fault("1", -32601, "Method not found")},
		"unknown, odd params":   {`{"jsonrpc":"2.0","id":1,"method":"foo/bar","params":[]}`, 200, fault("1", -32601, "Method not found")},
		"health with something": {request("health", `{"x":1}`), 200, invalid("health", "health", "", "unrecognized_keys")},
		"health tool, too": {
			request("tools/call", `{"name":"health","arguments":{"x":1}}`),
			200, invalid("tools/call", "health", "arguments", "unrecognized_keys"),
		},
		"a cursor":            {request("tools/list", `{"cursor":"zzz"}`), 200, invalid("tools/list", "", "cursor", "custom")},
		"a cursor, no string": {request("tools/list", `{"cursor":null}`), 200, invalid("tools/list", "", "cursor", "invalid_type")},
		"params a list":       {request("tools/list", `[]`), 200, invalid("tools/list", "", "", "invalid_type")},
		"no tool":             {request("tools/call", `{}`), 200, invalid("tools/call", "", "name", "invalid_type")},
		"unknown tool":        {request("tools/call", `{"name":"x","arguments":{}}`), 200, invalid("tools/call", "x", "name", "invalid_enum_value")},
		"arguments a list":    {request("tools/call", `{"name":"health","arguments":[]}`), 200, invalid("tools/call", "health", "arguments", "invalid_type")},
		"bad argument": {
			request("tools/call", `{"name":"recover_text","arguments":{"prune_id":1,"ranges":[],"include_line_numbers":true}}`),
			200, invalid("tools/call", "recover_text", "arguments.prune_id", "invalid_type"),
		},
		"bad direct argument": {
			request("recover_range", `{"prune_id":1,"ranges":[],"include_line_numbers":true}`),
			200, invalid("recover_range", "recover_range", "prune_id", "invalid_type"),
		},
		"unknown id": {
			request("recover_text", `{"prune_id":"prn_x","ranges":[{"start_line":0,"end_line":0}],"include_line_numbers":true}`),
			200, `{"jsonrpc":"2.0","id":1,"error":{"code":-32004,"message":"prune_id_not_found","data":{"code":"prune_id_not_found","prune_id":"prn_x"}}}`,
		},
		"initialize":            {request("initialize", `{"protocolVersion":"2025-06-18"}`), 200, initialized("2025-06-18")},
		"initialize, unknown":   {request("initialize", `{"protocolVersion":"banana"}`), 200, initialized("2025-11-25")},
		"initialize, no string": {request("initialize", `{"protocolVersion":1}`), 200, invalid("initialize", "", "protocolVersion", "invalid_type")},
	} {
		t.Run(name, func(t *testing.T) {
			status, got := r.post(t, "/rpc", tc.request)
			assert.Equal(t, tc.status, status)
			if tc.want == "" {
				assert.Empty(t, got)
				return
			}
			require.JSONEq(t, tc.want, got)
			if id, _, found := strings.Cut(strings.TrimPrefix(tc.want, `{"jsonrpc":"2.0","id":`), ","); found {
				assert.Contains(t, got, `"id":`+id+`,`, "the id byte for byte")
			}
		})
	}
}

func TestRPCRanges(t *testing.T) {
	r := start(t)
	id := r.tool(t, "prune_text", pruneArgs("a\nb\n", "g"))["prune_id"]
	for ranges, want := range map[string]string{
		`{"start_line":3,"end_line":9}`: `{"code":"invalid_range","range":{"start_line":3,"end_line":9},"max_line":2}`,
		`{"start_line":0,"end_line":1}`: `{"code":"invalid_range","range":{"start_line":0,"end_line":1}}`,
	} {
		params := fmt.Sprintf(`{"prune_id":%q,"ranges":[%s],"include_line_numbers":true}`, id, ranges)
		_, got := r.post(t, "/rpc", `{"jsonrpc":"2.0","id":1,"method":"recover_text","params":`+params+`}`)
		assert.JSONEq(t, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"error":{"code":-32005,"message":"invalid_range","data":%s}}`, want), got)
	}
	both := []any{map[string]any{"start_line": 1, "end_line": 2}}
	got := r.tool(t, "recover_range", map[string]any{"prune_id": id, "ranges": both, "include_line_numbers": true})
	assert.Equal(t, "1│ a\n2│ b", got["raw_text"])
}

func TestRPCSurvivesHostileText(t *testing.T) {
	r := start(t)
	for name, text := range map[string]string{
		"lone surrogate":  `"a\ud800b"`,
		"invalid UTF-8":   "\"a\xff\xed\xa0\x80b\"",
		"control escapes": `"\u0000\u001b[31m\u2028"`,
		"special tokens":  `"<|endoftext|><|im_start|>system\n[INST]"`,
		"huge line":       `"` + strings.Repeat("x", 300_000) + `"`,
		"many newlines":   `"` + strings.Repeat(`\n`, 100_000) + `"`,
	} {
		options := `{"max_prune_ratio":0.5,"min_keep_lines":0,"timeout_ms":5000,"annotate_lines":true,"include_markers":true}`
		status, got := r.post(t, "/rpc", `{"jsonrpc":"2.0","id":1,"method":"prune_text","params":`+
			`{"text":`+text+`,"goal_hint":"g","source_type":"logs","options":`+options+`}}`)
		assert.Equal(t, 200, status, name)
		assert.Contains(t, got, `\"used_fallback\":`, name)
	}
}
