package existing

import (
	"github.com/mcp-pruner/mcp-pruner/pruneclient/history"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc/planner"
	"github.com/mcp-pruner/mcp-pruner/tools/tokens"
)

// kinds are the planner's kinds of results, by the kinds of their tools.
var kinds = map[history.Kind]planner.Kind{
	history.Read: planner.File, history.Grep: planner.Search, history.Glob: planner.Search, history.Bash: planner.Command,
	history.Edit: planner.Edited, history.Write: planner.Edited,
}

// Item returns a call's result in the form of the planner. text is what the call returned, of which tokens are in the prompt.
func Item(call history.ToolCall, args map[string]any, text string, size int) planner.Item {
	if call.Unchanged(text) { // it does not show the file
		return planner.Item{Kind: planner.Other, Tokens: size}
	}
	item := planner.Item{Kind: kinds[call.Kind], Tokens: size, Stub: tokens.Claude(StubOf(call, args, text, ExampleWay))}
	if item.Path, _, _ = call.FileRead(); item.Path != "" {
		item.Kind = planner.File
	}
	return item
}

// Written returns the long arguments of a call in the form of the planner.
func Written(call history.ToolCall, args map[string]any, text string, size int) planner.Item {
	return planner.Item{Kind: planner.Written, Tokens: size, Path: call.File, Stub: tokens.Claude(StubOf(call, args, text, ExampleWay))}
}
