// Package hook implements `mcp-pruner hook`. A client runs it after each of its own tools, and it may
// answer with a shorter result. After any error it prints nothing, and the result stays unchanged.
package hook

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/settings"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/history"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/recovery/archive"
	"github.com/mcp-pruner/mcp-pruner/states/existing"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
	"github.com/mcp-pruner/mcp-pruner/tools/tokens"
)

// Limits of one run.
const (
	maxInput = 64 << 20        // bytes of a client's message
	longest  = 2 * time.Second // of a run, after which the result stays unchanged
)

// patience is longest; tests raise it for slow machines.
var patience = longest

// Run answers one message. It never fails: it prints a whole answer or nothing.
func Run(ctx context.Context, c *agent.Client, only Tools, lookup func(string) (string, bool), in io.Reader, out io.Writer) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() { _ = recover() }() // no bug in a hook may cost the user a result
		run(ctx, c, only, lookup, in, out)
	}()
	select {
	case <-done:
	case <-ctx.Done():
	}
}

func run(ctx context.Context, c *agent.Client, only Tools, lookup func(string) (string, bool), in io.Reader, out io.Writer) {
	raw, err := io.ReadAll(io.LimitReader(in, maxInput+1))
	if err != nil || len(raw) > maxInput {
		return
	}
	s, err := newState(lookup)
	if err != nil {
		return
	}
	s.tools = only
	message := object(raw)
	call, occasion := c.Hooks.Read(message, kindOf)
	if call.Unchanged {
		_, _ = out.Write(s.whole(c, message, finished{Call: call})) // also where hooks have been turned off since the cut
		return
	}
	if s.stays(call, occasion) {
		return
	}
	if occasion == agent.ToolEnded {
		if call.Exit != nil {
			call.Text = existing.WithStatus(*call.Exit, call.Text)
		}
		s.replace(ctx, c, message, finished{Call: call, bytes: len(raw)}, out)
		return
	}
	if answer := s.other(ctx, c, call, occasion); answer != nil {
		_, _ = out.Write(answer) // if the client is gone, nothing can be done
	}
}

// kindOf returns the kind of a tool.
func kindOf(tool string) string { return string(history.KindOf(tool)) }

// other answers messages that are not about a finished tool.
func (s state) other(ctx context.Context, c *agent.Client, call agent.Call, occasion agent.Occasion) []byte {
	switch occasion {
	case agent.Compacting:
		s.mark(ctx, call)
	case agent.Compacted:
		s.prelude(c)
		return s.remind(ctx, c, call)
	case agent.Started:
		s.prelude(c)
	case agent.ToolFailed:
		return s.add(ctx, c, finished{Call: call})
	case agent.TurnEnded:
		return s.tell(ctx, c, call)
	case agent.NextRequest:
		return s.clear(ctx, call)
	}
	return nil
}

// replace prunes a result and prints the answer.
func (s state) replace(ctx context.Context, c *agent.Client, message agent.Message, f finished, out io.Writer) {
	r := existing.Result{Call: history.ParseCall(f.Tool, f.Args), Args: f.Args, Noted: f.Numbered}
	if f.Spill != "" && !f.whole(&r) {
		return
	}
	r.Body = f.body(r.Call)
	size := r.Body.Tokens()
	if f.Text == "" || size < history.MinTokens {
		return
	}
	back, prune := s.know(c, &f, size, &r)
	spool := s.spooler(c, f, r.Call)
	if !prune {
		spool.Sent(size)
		return
	}
	_, first := r.Body.Original()
	records := openRecords(s.dir)
	defer records.close()
	originals := archive.In(s.dir)
	m := existing.Machine{
		Client: c.Name, Keep: originals.From(s.project(f.Folder), first), Emit: records.emit,
		Observers: append(records.observers, spool), Back: back,
	}
	replacement, ok, err := m.Prune(ctx, r)
	if replacement == nil {
		return
	}
	if err == nil && !ok { // the client shows the result unchanged: no message but its own carries it
		_ = replacement.Written(ctx, f.bytes, func() error { return nil })
		return
	}
	var answer []byte
	if err == nil {
		answer, err = answerOf(c, message, r.Call.Kind, replacement, r.Body)
	}
	err = replacement.Written(ctx, max(len(answer), 1), func() error {
		if err != nil || answer == nil || ctx.Err() != nil {
			return errStays
		}
		_, err := out.Write(answer)
		return err
	})
	if errors.Is(err, errStays) {
		spool.Sent(size)
	}
	if err == nil {
		_ = originals.Index.Show(replacement.ID, existing.Text(r.Body, replacement.Cut, replacement.Way)) // else a clearing gets an id of its own
		s.note(c, f, r.Call, replacement.ID, tokens.Claude(f.shown(r.Body)), tokens.Claude(f.sent(replacement, r.Body)))
	}
}

// stays reports whether hooks are turned off for a session, its project, a tool or a call.
func (s state) stays(call agent.Call, occasion agent.Occasion) bool {
	if s.off(call.Session) || offIn(s.project(call.Folder), settings.Hook) {
		return true
	}
	return (occasion == agent.ToolEnded || occasion == agent.ToolFailed) && (!s.tools.includes(call.Tool) || wantsWhole(call.Args))
}

// answerOf returns the client's JSON that replaces a result, or nil to leave the result unchanged.
func answerOf(c *agent.Client, message agent.Message, kind history.Kind, r *existing.Replacement, body existing.Body) ([]byte, error) {
	replacement := agent.Replacement{Text: existing.Text(body, r.Cut, r.Way), Part: func() (agent.Part, bool) {
		main, note := existing.Split(body, r.Cut, r.Way)
		if main.From == 0 || !existing.NoteFits(note) {
			return agent.Part{}, false
		}
		text := strings.Join(body.Lines[main.From-1:main.To], "\n")
		return agent.Part{Text: text, First: body.First + main.From - 1, Count: main.To - main.From + 1, Note: note}, true
	}}
	if most := c.Hooks.Longest; most > 0 && len(replacement.Text) > most {
		return nil, nil
	}
	answer := c.Hooks.Answer(message, string(kind), replacement)
	if answer == nil {
		return nil, nil
	}
	return json.Marshal(answer)
}
