package conformance

import (
	"context"
	"encoding/json"

	"github.com/mcp-pruner/mcp-pruner/tools"
)

// faultTool returns a tool that panics in the method that its argument names. It lets a trace record a handler's panic,
// which the real tools do not cause.
func faultTool() tools.Tool {
	return tools.Tool{
		Name: "fault", InputSchema: json.RawMessage(`{"type":"object"}`),
		Check: func(args map[string]any) (tools.Call, []tools.Issue) {
			in, _ := args["in"].(string)
			if in == "check" {
				panic("bug in check")
			}
			return &faultCall{in: in}, nil
		},
	}
}

type faultCall struct {
	in    string
	codes int
}

func (f *faultCall) FocusQuestion() string {
	if f.in == "question" {
		panic("bug in question")
	}
	return ""
}

func (f *faultCall) Run(context.Context) (tools.Output, error) {
	if f.in == "run" {
		panic("bug in run")
	}
	return f, nil
}

// Code is called twice: after the tool has run, and when its output is captured.
func (f *faultCall) Code() string {
	f.codes++
	if f.in == "capture" && f.codes == 2 {
		panic("bug in capture")
	}
	return "code"
}

func (f *faultCall) Source() tools.Source               { return tools.Source{} }
func (f *faultCall) Prune(string) (tools.Output, error) { return f, nil }

func (f *faultCall) Text() string {
	if f.in == "text" {
		panic("bug in text")
	}
	return "code"
}

func (f *faultCall) Structured(any) any {
	if f.in == "marshal" {
		return func() {} // encoding/json returns an error for a function
	}
	return struct{}{}
}
