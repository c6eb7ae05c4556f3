package clearing

import (
	"cmp"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc/wire"
)

// reachOf returns what leads the model back to what is replaced, by the tools that a request offers. The originals of an agent on
// another machine are in a database, which only recover_text asks; its files it can read again.
func reachOf(c *wire.Conversation, remote bool) history.Reach {
	if remote || c.Bare {
		r := history.ReachBy(c.Tools(), history.RecoverTool)
		r.Commands, r.Tool = false, cmp.Or(c.Way, r.Tool)
		return r
	}
	return history.ReachBy(c.Tools(), history.ReadTool, history.GetTool)
}

// leads reports whether the model can get back what replaces a result of a call, or the call's long arguments.
func leads(reach history.Reach, r *wire.Result, call history.ToolCall) bool {
	if r.Arguments {
		return reach.LeadsToWritten(call)
	}
	return reach.Leads(call)
}
