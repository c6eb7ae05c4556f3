package hook

import (
	"context"
	"encoding/json"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/assemble"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/recovery"
	"github.com/mcp-pruner/mcp-pruner/states/clearing"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
)

// clear answers a plugin of a client that asks before the next request. The answer holds the replacements of old results by
// call id.
func (s state) clear(ctx context.Context, call agent.Call) []byte {
	messages, err := json.Marshal(call.Messages)
	if err != nil {
		return nil
	}
	store, err := assemble.OpenOwnLedger(ctx, s.lookup)
	if err != nil {
		return nil
	}
	defer func() { _ = store.Close() }() // the decisions are stored by now
	records := openRecords(s.dir)
	defer records.close()
	e := &clearing.Engine{
		Store: store, Index: clearing.Files{Index: recovery.Index{State: s.dir}}, Machine: records.Machine,
		Runs: clearing.NewRuns(records.emit, nil, "", s.now), Back: s.wayBack, Policy: contextgc.DefaultPolicy(), Clears: true, Now: s.now,
	}
	outputs, err := e.Opencode(ctx, call.Folder, call.Session, messages)
	if err != nil || len(outputs) == 0 {
		return nil
	}
	answer, _ := json.Marshal(map[string]any{"outputs": outputs}) // texts
	return answer
}
