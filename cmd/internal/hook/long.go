package hook

import (
	"context"
	"encoding/json"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/recovery/archive"
	"github.com/mcp-pruner/mcp-pruner/states/existing"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
	"github.com/mcp-pruner/mcp-pruner/tools/tokens"
)

// mostAdded is how many tokens are added to a failed command's output.
const mostAdded = 1_500

// add shows the model the lines that the client left out of a failed command's output, as far as they matter.
func (s state) add(ctx context.Context, c *agent.Client, f finished) []byte {
	all := s.takeKept(f.Session, f.Shown.Head)
	body, ok := existing.Hidden(all, f.Shown.Head, f.Shown.Tail, "Lines %d-%d were left out above. Of these:")
	if !ok {
		return nil
	}
	f.Text = all
	r := existing.Result{Call: history.ParseCall(f.Tool, f.Args), Args: f.Args, Body: body, Most: mostAdded}
	size := body.Tokens()
	back, ok := s.know(c, &f, max(size, history.MinTokens), &r)
	if !ok {
		return nil
	}
	records := openRecords(s.dir)
	defer records.close()
	spool := s.spooler(c, f, r.Call)
	m := existing.Machine{
		Client: c.Name, Keep: archive.In(s.dir).From(s.project(f.Folder), 1), Emit: records.emit,
		Observers: append(records.observers, spool), Back: back,
	}
	replacement, ok, err := m.Prune(ctx, r)
	if replacement == nil {
		return nil
	}
	var answer []byte
	var text string
	if err == nil && ok {
		text = existing.Text(body, replacement.Cut, replacement.Way)
		if existing.NoteFits(text) {
			answer, err = json.Marshal(c.Hooks.Add(text))
		}
	}
	if err = replacement.Written(ctx, max(len(answer), 1), func() error {
		if err != nil || answer == nil || ctx.Err() != nil {
			return errStays
		}
		return nil
	}); err != nil {
		return nil
	}
	s.note(c, f, r.Call, replacement.ID, 0, tokens.Claude(text))
	return answer
}
