// Package replay computes from recorded sessions how much each part of this program would have saved and lost.
// docs/evidence/BILL.md explains the formula.
package replay

import (
	"io"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/history/sessions"
)

// Settings configure a replay.
type Settings struct {
	Files    []string  // "-": Stdin
	Stdin    io.Reader // may be nil if no file is "-"
	Policies []Policy
	Prices   sessions.PriceOverride // of the prices of each session's provider
	Others   history.OtherTools     // the other tools whose results are pruned
	Explain  string                 // the session to explain: its id or a prefix of it
	Progress func(done string)      // called after each session; nil: not called

	Judged func(*Figures) // called with each session's figures, at the same time for several
	Chosen func(*Figures) // called with them in reading order, after the policy context, which needs other sessions

	Experiment
}
