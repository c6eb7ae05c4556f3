//go:build e2e

package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/mcp/httpserver"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/mcp/mcpserver"
	"github.com/mcp-pruner/mcp-pruner/fsm"
	"github.com/mcp-pruner/mcp-pruner/states"
	"github.com/mcp-pruner/mcp-pruner/tools"
)

// suiteTool is a tool that the conformance suite expects a server under test to have.
type suiteTool struct {
	name, schema string // schema "": any arguments
	result       string // content blocks; "": a text
	isError      bool
	progress     bool   // reports progress of 0, 50 and 100 of 100
	asks, with   string // a request to the client and its params
	needs        string // a capability without which the call is refused
	changesList  bool
}

const (
	pixel = `iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==`
	wave  = `UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA=`
	image = `{"type":"image","data":"` + pixel + `","mimeType":"image/png"}`
	text  = `{"type":"resource","resource":{"uri":"test://embedded-resource","mimeType":"text/plain","text":"embedded"}}`
)

// suiteTools are all tools that the suite's scenarios about tools expect. The first one needs no arguments, because
// some scenarios call the first tool of any server.
var suiteTools = []suiteTool{
	{name: "test_simple_text"},
	{name: "test_image_content", result: image},
	{name: "test_audio_content", result: `{"type":"audio","data":"` + wave + `","mimeType":"audio/wav"}`},
	{name: "test_embedded_resource", result: text},
	{name: "test_multiple_content_types", result: `{"type":"text","text":"Several:"},` + image + `,` + text},
	{name: "test_error_handling", isError: true},
	{name: "test_tool_with_progress", progress: true},
	{name: "test_sampling", asks: "sampling/createMessage",
		with: `{"messages":[{"role":"user","content":{"type":"text","text":"Hello"}}],"maxTokens":100}`},
	{name: "test_elicitation", asks: "elicitation/create", with: elicit(`"username":{"type":"string"},"email":{"type":"string"}`)},
	{name: "test_elicitation_sep1034_defaults", asks: "elicitation/create", with: elicit(`"name":{"type":"string","default":"John Doe"},
		"age":{"type":"integer","default":30},"score":{"type":"number","default":95.5},
		"status":{"type":"string","enum":["active","inactive","pending"],"default":"active"},"verified":{"type":"boolean","default":true}`)},
	{name: "test_elicitation_sep1330_enums", asks: "elicitation/create", with: elicit(`"untitledSingle":{"type":"string","enum":["option1","option2","option3"]},
		"titledSingle":{"type":"string","oneOf":[{"const":"value1","title":"First Option"},{"const":"value2","title":"Second Option"}]},
		"legacyEnum":{"type":"string","enum":["opt1","opt2"],"enumNames":["Option One","Option Two"]},
		"untitledMulti":{"type":"array","items":{"type":"string","enum":["option1","option2","option3"]}},
		"titledMulti":{"type":"array","items":{"anyOf":[{"const":"value1","title":"First Choice"},{"const":"value2","title":"Second Choice"}]}}`)},
	{name: "test_missing_capability", needs: "sampling"},
	{name: "test_streaming_elicitation"},
	{name: "test_logging_tool"},
	{name: "test_trigger_tool_change", changesList: true},
	{name: "test_headers", schema: `{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"}}}`},
	{name: "json_schema_2020_12_tool", schema: `{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object",
		"$defs":{"address":{"$anchor":"addressDef","type":"object","properties":{"street":{"type":"string"},"city":{"type":"string"}}}},
		"properties":{"name":{"type":"string"},"address":{"$ref":"#/$defs/address"},"contactMethod":{"type":"string","enum":["phone","email"]},
		"phone":{"type":"string"},"email":{"type":"string"}},"allOf":[{"anyOf":[{"required":["phone"]},{"required":["email"]}]}],
		"if":{"properties":{"contactMethod":{"const":"phone"}},"required":["contactMethod"]},"then":{"required":["phone"]},"else":{"required":["email"]},
		"additionalProperties":false}`},
}

func elicit(properties string) string {
	return `{"message":"Please","requestedSchema":{"type":"object","properties":{` + properties + `}}}`
}

// suiteServer serves the suite's tools with the same packages that serve the program's own tools and the gateway's.
func suiteServer(t *testing.T) (url string) {
	var server *mcpserver.Server
	var version atomic.Int32 // of the list
	list := func(string) []tools.Tool {
		all := make([]tools.Tool, len(suiteTools))
		for i, s := range suiteTools {
			all[i] = s.tool(func() {
				version.Add(1)
				server.ListChanged(mcpserver.ToolsList)
			})
		}
		all[0].Description = fmt.Sprintf("version %d", version.Load())
		return all
	}
	server = mcpserver.New(mcpserver.Config{
		List: list, Version: "0.0.0", Result: "full", MaxCalls: 64,
		Pipeline: &states.Pipeline{Machine: fsm.MustCompile(fsm.HTTPRequestTable())},
	})
	web := httptest.NewServer(httpserver.NewHandler(httpserver.Config{Server: server}))
	t.Cleanup(web.Close)
	t.Cleanup(server.StopListening)
	return web.URL + "/mcp"
}

func (s suiteTool) tool(changed func()) tools.Tool {
	schema := s.schema
	if schema == "" {
		schema = `{"type":"object"}`
	}
	return tools.Tool{Name: s.name, Description: "of the suite", InputSchema: json.RawMessage(schema), Check: func(map[string]any) (tools.Call, []tools.Issue) {
		return suiteCall{s, changed}, nil
	}}
}

type suiteCall struct {
	suiteTool
	changed func()
}

func (suiteCall) FocusQuestion() string { return "" }

func (c suiteCall) Run(ctx context.Context) (tools.Output, error) {
	caller := mcpserver.CallerOf(ctx)
	if token := caller.ProgressToken(); c.progress && token != nil {
		for _, part := range []int{0, 50, 100} {
			caller.Notify("notifications/progress", map[string]any{"progressToken": token, "progress": part, "total": 100})
		}
	}
	var declared map[string]json.RawMessage
	_ = json.Unmarshal(caller.Capabilities(), &declared)
	if _, ok := declared[c.needs]; c.needs != "" && !ok {
		return nil, &tools.Error{Code: "upstream_error", Message: "a capability is missing", Opaque: &tools.Opaque{RPC: &tools.RPCError{
			Code: -32021, Message: "Missing required client capability", Data: json.RawMessage(`{"requiredCapabilities":{"` + c.needs + `":{}}}`),
		}}}
	}
	if c.asks != "" {
		if _, _, err := caller.Ask(ctx, c.asks, json.RawMessage(c.with)); err != nil {
			return nil, &tools.Error{Code: "upstream_error", Message: err.Error()}
		}
	}
	if c.changesList {
		c.changed()
	}
	result := c.result
	if result == "" {
		result = `{"type":"text","text":"done"}`
	}
	var blocks []json.RawMessage
	if err := json.Unmarshal([]byte("["+result+"]"), &blocks); err != nil {
		return nil, err
	}
	o := &tools.Opaque{Content: blocks, IsError: c.isError}
	if c.isError {
		return nil, &tools.Error{Code: "upstream_error", Message: "meant to fail", Opaque: o}
	}
	return suiteOutput{o}, nil
}

type suiteOutput struct{ opaque *tools.Opaque }

func (suiteOutput) Code() string                       { return "" }
func (suiteOutput) Source() tools.Source               { return tools.Source{} }
func (suiteOutput) Text() string                       { return "" }
func (suiteOutput) Structured(any) any                 { return nil }
func (o suiteOutput) Opaque() *tools.Opaque            { return o.opaque }
func (suiteOutput) Prune(string) (tools.Output, error) { return nil, errors.New("is not pruned") }
