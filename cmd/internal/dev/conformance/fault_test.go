package conformance

import (
	"context"
	"encoding/json"

	"mcp-pruner/tools"
)

// faultTool is a tool with a bug in the place its argument names: what happens
// when a handler panics can be seen on no tool that works.
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

// Code is called once when the tool has run and once when its output is captured.
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
		return func() {} // JSON has no functions
	}
	return struct{}{}
}
