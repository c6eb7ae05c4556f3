package existing

import (
	"cmp"
	"context"

	"github.com/mcp-pruner/mcp-pruner/pruneclient"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/history"
	"github.com/mcp-pruner/mcp-pruner/states"
	"github.com/mcp-pruner/mcp-pruner/tools"
)

// Decided is a result whose replacement was decided before.
type Decided struct {
	Call    history.ToolCall
	Args    map[string]any
	Text    string // all of the result
	ID      string // of the original, which is stored already
	Segment string // of the ledger; it keeps two results about one file apart
	Shown   string // the replacement
	Why     string
}

// Replace runs the machine for a result whose replacement was decided before. size returns the bytes of the message that
// carries a text. ok is false if the result stays unchanged.
func (m Machine) Replace(ctx context.Context, d Decided, size func(text string) int) (text string, ok bool) {
	m.Keep = func(context.Context, string) (string, error) { return d.ID, nil }
	source := tools.Source{Command: d.Call.Command}
	source.File, source.FirstLine, _ = d.Call.FileRead()
	call := m.run(ctx, shownInstead(d.Shown), d.Args, given{
		question: d.Why, output: output{d.Text, source},
		// As PruneID the segment would say that the model asked for it again.
		subject: tools.Subject{Path: source.File, Command: d.Call.Command, Pattern: d.Call.Pattern, Options: d.Segment},
	}, cmp.Or(d.Call.Tool, "tool"))
	answer := call.Answer()
	if answer.Kind != states.Result { // the request was abandoned
		call.Answering(0)
		return "", false
	}
	call.Answering(size(answer.Text))
	call.Written(ctx)
	return answer.Text, call.Pruning().Applied
}

// shownInstead is a pruner whose result was decided before.
type shownInstead string

// Prune implements pruneclient.Pruner.
func (s shownInstead) Prune(context.Context, pruneclient.Request) (pruneclient.Result, error) {
	return pruneclient.Result{Text: string(s)}, nil
}

// Endpoint implements pruneclient.Pruner.
func (shownInstead) Endpoint() string { return "proxy" }
