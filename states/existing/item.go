package existing

import (
	"github.com/mcp-pruner/mcp-pruner/pruneclient/history"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
	"github.com/mcp-pruner/mcp-pruner/tools/tokens"
)

// kinds are the planner's kinds of results, by the kinds of their tools.
var kinds = map[history.Kind]contextgc.Kind{
	history.Read: contextgc.KindFile, history.Grep: contextgc.KindSearch, history.Glob: contextgc.KindSearch, history.Bash: contextgc.KindCommand,
	history.Edit: contextgc.KindEdited, history.Write: contextgc.KindEdited,
}

// Item returns a call's result in the form of the planner. text is what the call returned, of which tokens are in the prompt.
func Item(call history.ToolCall, args map[string]any, text string, size int) contextgc.Item {
	if call.Unchanged(text) { // it does not show the file
		return contextgc.Item{Kind: contextgc.KindOther, Tokens: size}
	}
	item := contextgc.Item{Kind: kinds[call.Kind], Tokens: size, Stub: tokens.Claude(StubOf(call, args, text, ExampleWay))}
	if item.Path, _, _ = call.FileRead(); item.Path != "" {
		item.Kind = contextgc.KindFile
	}
	return item
}

// Written returns the long arguments of a call in the form of the planner.
func Written(call history.ToolCall, args map[string]any, text string, size int) contextgc.Item {
	return contextgc.Item{Kind: contextgc.KindWritten, Tokens: size, Path: call.File, Stub: tokens.Claude(StubOf(call, args, text, ExampleWay))}
}
