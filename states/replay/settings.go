// Package replay computes from recorded sessions how much each part of this program would have saved and lost.
// docs/BILL.md explains the formula.
package replay

import (
	"io"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/history/bill"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/history/prefix"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/history/sessions"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/learned"
	"github.com/mcp-pruner/mcp-pruner/states/existing"
)

// Policy is the place between tool and model at which the pruner is assumed to work.
type Policy string

// The policies.
const (
	Hook  Policy = "hook"  // the client's own tools, pruned by its hook
	MCP   Policy = "mcp"   // this program's read, bash and grep in addition to the client's
	Proxy Policy = "proxy" // between client and model: any tool, including failed commands
	GC    Policy = "gc"    // old results cleared by the planner

	Context Policy = "context" // without what a project's earlier sessions did not use of the fixed prefix

	Both Policy = "hook+gc"
	All  Policy = "all" // hook, gc and context together
)

// Settings configure a replay.
type Settings struct {
	Files    []string  // "-": Stdin
	Stdin    io.Reader // may be nil if no file is "-"
	Policies []Policy
	Prices   bill.Override      // of the prices of each session's provider
	Others   history.OtherTools // the other tools whose results are pruned
	Explain  string             // the session to explain: its id or a prefix of it
	Progress func(done string)  // called after each session; nil: not called

	Experiment
}

// Experiment changes what is tried, so that the worth of a part of the pruner can be measured. Its zero value changes
// nothing.
type Experiment struct {
	Only func(sessions.Session) bool // the sessions that count; nil: all

	// Boldness is a factor for the price at which a line is kept: above 1, more is cut. 0 means 1.
	Boldness float64

	// Weights returns the weights of the ranking for a session, so that a session can be judged by weights
	// that were learned without it. nil: the embedded weights.
	Weights func(sessions.Session) *learned.Weights

	Decide func(*history.Decision, bill.Result)            // changes the decision whether to prune
	Know   func(*existing.Result)                          // changes what the pruner is told
	Cut    func(cut existing.Cut, result int) existing.Cut // changes what it cut

	// Asks reports whether a model writes a question for this program's tools. nil: it does unless it is careful, that
	// is, about to edit the file.
	Asks    func(r bill.Result, careful bool) bool
	Defined bool // count no definitions of this program's tools, as if they took the place of the client's

	Rule prefix.Rule // by which the policy context chooses; zero: the standard one

	Judged func(*Figures) // called with each session's figures, at the same time for several
	Chosen func(*Figures) // called with them in reading order, after the policy context, which needs other sessions
}
