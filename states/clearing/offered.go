package clearing

import (
	"github.com/mcp-pruner/mcp-pruner/pruneclient/history"
	"github.com/mcp-pruner/mcp-pruner/states/existing"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc/wire"
)

// reachOf returns what leads the model back to what is replaced, by the tools that the request offers. The originals of an agent
// on another machine are in a database, which only recover_text asks.
func (w *walk) reachOf() history.Reach {
	if w.remote() {
		return history.Reach{Tool: history.ReachBy(w.Tools(), history.RecoverTool).Tool}
	}
	return history.ReachBy(w.Tools(), history.ReadTool, history.GetTool)
}

// remote reports whether the agent is on another machine than the commands of this program: it was authenticated, and its
// originals are in a database.
func (w *walk) remote() bool { return w.Owner != "" && w.Store.Shared() }

// leads reports whether the model can get back what replaces a result.
func (w *walk) leads(r *wire.Result) bool {
	if r.Arguments {
		return w.reach.LeadsToWritten(w.calls[r.Index])
	}
	return w.reach.Leads(w.calls[r.Index])
}

// wayBack returns how a client's agent gets a text back, without the id.
func (w *walk) wayBack(client string) string {
	return existing.BackOf(w.reach, func() string {
		if w.Back == nil {
			return existing.DefaultBack
		}
		return w.Back(client)
	})
}
