// Package tooltest has simple tools for the tests of servers.
package tooltest

import (
	"context"
	"encoding/json"
	"time"

	"github.com/mcp-pruner/mcp-pruner/tools"
)

// Func is a call without a focus question.
type Func func(ctx context.Context) (tools.Output, error)

func (Func) FocusQuestion() string                           { return "" }
func (c Func) Run(ctx context.Context) (tools.Output, error) { return c(ctx) }

// Tool returns a tool that accepts any arguments.
func Tool(name string, run Func) tools.Tool {
	return tools.Tool{
		Name: name, InputSchema: json.RawMessage(`{"type":"object"}`),
		Check: func(map[string]any) (tools.Call, []tools.Issue) { return run, nil },
	}
}

// Output is an output that consists of its text.
type Output string

func (o Output) Code() string                            { return string(o) }
func (o Output) Text() string                            { return string(o) }
func (Output) Source() tools.Source                      { return tools.Source{} }
func (Output) Prune(pruned string) (tools.Output, error) { return Output(pruned), nil }
func (o Output) Structured(pruning any) any {
	return map[string]any{"content": string(o), "pruning": pruning}
}

// Slept is the output of Nap.
const Slept Output = "slept <well> & long"

// Nap returns a tool that waits for the number of seconds in its arguments.
func Nap() tools.Tool {
	t := Tool("nap", nil)
	t.ReadOnly = true
	t.Check = func(args map[string]any) (tools.Call, []tools.Issue) {
		seconds, _ := args["seconds"].(json.Number)
		n, _ := seconds.Int64()
		return Func(func(ctx context.Context) (tools.Output, error) {
			select {
			case <-time.After(time.Duration(n) * time.Second):
				return Slept, nil
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}), nil
	}
	return t
}
