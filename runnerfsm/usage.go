package runnerfsm

import (
	"github.com/mcp-pruner/mcp-pruner/runnerfsm/provider"
	"github.com/mcp-pruner/mcp-pruner/tools/tokens"
)

// Usage adds up the pruning figures in the server's results, as the client passed them on.
// It counts what reached the client, and is available however the run ends.
type Usage struct {
	Calls    int // results of our tools
	Pruned   int // pruned results
	RawBytes int // size of the pruned results before pruning, in bytes
	Bytes    int // their size after pruning
}

func (u *Usage) add(p provider.Pruning) {
	u.Calls++
	if p.Applied {
		u.Pruned++
		u.RawBytes += p.RawBytes
		u.Bytes += p.PrunedBytes
	}
}

// SavedTokens estimates the tokens that pruning kept out of the conversation.
func (u Usage) SavedTokens() int { return tokens.OfSize(u.RawBytes - u.Bytes) }
