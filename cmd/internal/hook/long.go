package hook

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/history/sessions"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/recovery/archive"
	"github.com/mcp-pruner/mcp-pruner/states/existing"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
	"github.com/mcp-pruner/mcp-pruner/tools/files"
	"github.com/mcp-pruner/mcp-pruner/tools/tokens"
)

// Clients show only a part of a long output. The hook finds the whole where the client has put it, and selects from that.
const (
	maxSpill = 64 << 20 // bytes of the largest file that is read

	mostLong  = 1_700 // tokens that are selected from an output of which the client shows a part
	mostAdded = 1_500 // tokens that are added to a failed command's output
)

// whole takes the place of an output of which the client gave the hook only a part. It returns false if the whole cannot be
// had. What the client would show becomes f.preview.
func (f *finished) whole(r *existing.Result) bool {
	switch {
	case f.Spill != "":
		text, err := files.ReadPrivate(f.SpillIn, f.Spill, maxSpill)
		if err != nil {
			return false
		}
		f.preview = f.Text[:min(len(f.Text), previewBytes)]
		f.Text = strings.ToValidUTF8(string(text), "\uFFFD")
	case f.Clipped:
		text, ok := sessions.CommandOutput(f.Transcript, f.ID, f.Text)
		if !ok {
			return false
		}
		f.preview, f.Text = f.Text, text
	default:
		return true
	}
	r.Most = mostLong
	return true
}

// previewBytes is the size of what Claude Code shows of an output that it writes to a file.
const previewBytes = 2_000

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
	if !s.know(c, &f, max(size, history.MinTokens), &r) {
		return nil
	}
	records := openRecords(s.dir)
	defer records.close()
	spool := s.spooler(c, f, r.Call)
	m := existing.Machine{
		Client: c.Name, Keep: archive.In(s.dir).From(s.project(f.Folder), 1), Emit: records.emit,
		Observers: append(records.observers, spool), Back: s.wayBack(c.Name),
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
