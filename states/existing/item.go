package existing

import (
	"github.com/mcp-pruner/mcp-pruner/pruneclient/history"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc/planner"
)

// kinds are the planner's kinds of results, by the kinds of their tools.
var kinds = map[history.Kind]planner.Kind{
	history.Read: planner.File, history.Grep: planner.Search, history.Glob: planner.Search, history.Bash: planner.Command,
	history.Edit: planner.Edited, history.Write: planner.Edited,
}

// Item returns a call's result in the form of the planner.
func Item(call history.ToolCall, tokens int) planner.Item {
	item := planner.Item{Kind: kinds[call.Kind], Tokens: tokens}
	if item.Path, _, _ = call.FileRead(); item.Path != "" {
		item.Kind = planner.File
	}
	return item
}
