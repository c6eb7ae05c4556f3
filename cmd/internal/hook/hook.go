// Package hook implements `mcp-pruner hook`. A client runs it after each of its own tools, and it may
// answer with a shorter result. After any error it prints nothing, and the result stays unchanged.
// It keeps notes of what was replaced, from which the verb gain adds up what that saved, and decides by which command an agent
// gets back what was cut: the proxy and init ask it too, so that what an agent is told to run is what a permission rule allows.
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
	"github.com/mcp-pruner/mcp-pruner/pruneclient/recovery"
	"github.com/mcp-pruner/mcp-pruner/states/existing"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
	"github.com/mcp-pruner/mcp-pruner/tools/tokens"
)

// longest is the time of one run, after which the result stays unchanged.
const longest = 2 * time.Second

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
	msg, ok := read(c, in)
	s, err := newState(lookup)
	if !ok || err != nil {
		return
	}
	s.tools = only
	s.ran(msg)
	switch {
	case msg.call.Unchanged:
		write(out, s.whole(msg)) // also where hooks have been turned off since the cut
	case s.stays(msg):
	case msg.occasion == agent.ToolEnded:
		s.replace(ctx, msg, out)
	default:
		write(out, s.other(ctx, msg))
	}
}

// write prints an answer, if there is one. If the client is gone, nothing can be done.
func write(out io.Writer, answer []byte) {
	if answer != nil {
		_, _ = out.Write(answer)
	}
}

// other answers messages that are not about a tool that has ended well.
func (s state) other(ctx context.Context, msg message) []byte {
	switch msg.occasion {
	case agent.Compacting:
		s.mark(ctx, msg.call)
	case agent.Compacted:
		s.prelude(msg.client)
		return s.remind(ctx, msg.client, msg.call)
	case agent.Started:
		s.prelude(msg.client)
	case agent.ToolFailed:
		return s.add(ctx, msg)
	case agent.TurnEnded:
		return s.tell(ctx, msg.client, msg.call)
	case agent.NextRequest:
		return s.clear(ctx, msg.call)
	}
	return nil
}

// replace prunes a result and prints the answer. Each step takes what the ones before it returned.
func (s state) replace(ctx context.Context, msg message, out io.Writer) {
	o, ok := outputOf(msg)
	size := o.body.Tokens()
	if !ok || o.text == "" || size < history.MinTokens {
		return
	}
	k, prune := s.know(msg, o, size)
	spool := s.spooler(msg, k.text)
	if !prune || s.leavesToClearing(ctx, k, msg.call.Session) {
		spool.Sent(size)
		return
	}
	records := openRecords(s.dir)
	defer records.close()
	_, first := k.body.Original()
	originals := recovery.ArchiveIn(s.dir)
	m := s.machine(msg, k, records, spool)
	m.Keep = originals.From(s.project(msg.call.Folder), first)
	r, ok, err := m.Prune(ctx, k.result)
	if r == nil {
		return
	}
	if err == nil && !ok { // the client shows the result unchanged: no message but its own carries it
		_ = r.Written(ctx, msg.bytes, func() error { return nil })
		return
	}
	err = written(ctx, r, err, out, func() ([]byte, error) { return answerOf(msg.client, msg.object, msg.tool.Kind, r, k.body) })
	if errors.Is(err, errStays) {
		spool.Sent(size)
	}
	if err == nil {
		_ = originals.Index.Show(r.ID, existing.Text(k.body, r.Cut, r.Way)) // else a clearing gets an id of its own
		s.note(msg, k.transcript, r.ID, tokens.Claude(k.shown(msg.call)), tokens.Claude(existing.Sent(k.body, r.Cut, msg.call.Numbered, r.Way)))
	}
}

// leavesToClearing reports whether a result that the client shows whole is left to the proxy, which clears old results of the session. A
// ledger that does not answer at once says nothing.
func (s state) leavesToClearing(ctx context.Context, k knowledge, session string) bool {
	ctx, cancel := context.WithTimeout(ctx, lateBy)
	defer cancel()
	return k.most == 0 && k.result.Call.LeftToClearing(s.proxied(ctx, session).Usage.Calls)
}

// stays reports whether hooks are turned off for a session, its project, a tool or a call.
func (s state) stays(msg message) bool {
	if s.off(msg.call.Session) || offIn(s.project(msg.call.Folder), settings.Hook) {
		return true
	}
	return (msg.occasion == agent.ToolEnded || msg.occasion == agent.ToolFailed) && (!s.tools.includes(msg.call.Tool) || wantsWhole(msg.call.Args))
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
