package clearing

import (
	"cmp"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history"
	"github.com/mcp-pruner/mcp-pruner/states/existing"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc/wire"
)

// reachOf returns what leads the model back to what is replaced, by the tools that a request offers. The originals of an agent on
// another machine are in a database, which only recover_text asks; its files it can read again.
func reachOf(c *wire.Conversation, remote bool) history.Reach {
	tools := c.Tools(history.Takes)
	if remote || c.Bare {
		r := history.ReachBy(tools, history.RecoverTool)
		r.Commands, r.Tool = false, cmp.Or(c.Way, r.Tool)
		return r
	}
	return history.ReachBy(tools, history.ReadTool, history.GetTool)
}

// leads reports whether the model can get back what replaces a result of a call, or the call's long arguments. LiteLLM looks for hashes
// in contents alone, and of the Responses API it takes no changed call back without losing the model's reasoning.
func leads(reach history.Reach, r *wire.Result, call history.ToolCall) bool {
	if r.Arguments {
		return reach.Tool != existing.ByHash && reach.LeadsToWritten(call)
	}
	return reach.Leads(call)
}
