package clearing

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/fsm"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc/wire"
)

// Rewrite returns the request to send. With decide false it makes no new decisions, as for requests that
// only count tokens.
func (e *Engine) Rewrite(ctx context.Context, c *wire.Conversation, client string, decide bool) (Outcome, error) {
	if err := e.ready(ctx); err != nil {
		return Outcome{}, err
	}
	marks, alone := e.placed(ctx, c)
	if alone {
		return Outcome{Replaced: c.Replace(nil)}, nil
	}
	if here := marks[len(marks)-1]; decide && len(here) > 0 {
		lock := &e.deciding[binary.BigEndian.Uint16(here[0][:])%uint16(len(e.deciding))]
		lock.Lock()
		defer lock.Unlock()
	}
	for {
		heads, err := e.lookup(ctx, marks)
		if err != nil {
			return Outcome{}, err
		}
		w := e.walk(c, marks, heads)
		err = w.all(ctx, client, decide)
		if errors.Is(err, contextgc.ErrDecided) {
			if err = e.reload(ctx); err == nil {
				continue // by another process
			}
		}
		return w.outcome(), err
	}
}

// placed returns the marks of each place of a conversation, unless its session is left alone.
func (e *Engine) placed(ctx context.Context, c *wire.Conversation) (marks [][]wire.Key, alone bool) {
	c.Owner = agent.SubjectOf(ctx)
	if e.Runs.alone.has(c.Owner, c.Session, contextgc.LeftAlone) {
		return nil, true
	}
	e.warm.begin()
	e.keys.Identify(c)
	return c.Marks(), false
}

// Known is Rewrite for a store that takes nothing: it applies earlier decisions and makes no new ones. Those that this process has
// not read yet it reads, which a lock does not prevent, but does not wait for long.
func (e *Engine) Known(ctx context.Context, c *wire.Conversation) Outcome {
	short, cancel := context.WithTimeout(ctx, cmp.Or(e.Hurry, stayWithin))
	defer cancel()
	err := e.ready(short)
	marks, alone := e.placed(ctx, c)
	if alone {
		return Outcome{Replaced: c.Replace(nil)}
	}
	heads, _ := e.recall(marks)
	if err == nil {
		if all, err := e.lookup(short, marks); err == nil {
			heads = all
		}
	}
	w := e.walk(c, marks, heads)
	_ = w.all(ctx, "", false) // it decides nothing, so that nothing fails
	return w.outcome()
}

// Answered tells the engine what the provider read from its cache for a request of a session, and how many tokens the prompt had.
// Where it is little although nothing was cleared, the cache had expired, or the client had changed its prompt.
func (e *Engine) Answered(ctx context.Context, session string, o Outcome, read, written, prompt int) {
	if prompt == 0 || read+written == 0 { // the provider says nothing of its cache
		return
	}
	if o.wide && o.Marked && !o.Changed && 2*read < prompt && 3*o.before > 2*o.size {
		e.unmark(ctx, session)
	}
	if cached := int(float64(read) / float64(prompt) * float64(o.size)); o.Fresh == 0 && contextgc.CachedOf(cached, o.before) < 1 {
		e.warm.found(o.place, cached)
	}
}

// LeaveAlone lets every later request of a session through as it comes, also after a restart. With an error only this process
// does.
func (e *Engine) LeaveAlone(ctx context.Context, api, session string, why Refusal) error {
	mark := contextgc.Mark{Subject: agent.SubjectOf(ctx), Session: session, Kind: contextgc.LeftAlone, Detail: string(why)}
	if !e.Runs.alone.add(mark) {
		return nil // another request of it was refused at the same time
	}
	e.Machine.Emit(fsm.NewEvent("proxy.left_alone", "", fsm.Facts{"api": api, "session": session, "message": mark.Detail}))
	return e.Store.AddMark(ctx, mark)
}

// Alone returns how many sessions are left alone, and why the latest one is.
func (e *Engine) Alone(ctx context.Context) (sessions int, why string) {
	a := &e.Runs.alone
	_ = a.read(ctx, e.Store, e.Now()) // those that this process knows are counted at least
	a.mu.Lock()
	defer a.mu.Unlock()
	for w := range a.marks.all {
		if strings.HasPrefix(w.session, contextgc.LeftAlone) {
			sessions++
		}
	}
	return sessions, a.why
}

// unmark ends our mark for a session, because usage shows that it brings nothing.
func (e *Engine) unmark(ctx context.Context, session string) {
	mark := contextgc.Mark{Subject: agent.SubjectOf(ctx), Session: session, Kind: contextgc.NoMark, Detail: "usage shows that it brings nothing"}
	if e.Runs.alone.add(mark) {
		e.Machine.Emit(fsm.NewEvent("proxy.unmarked", "", fsm.Facts{"session": session, "message": "a cache mark of ours ends: " + mark.Detail}))
		_ = e.Store.AddMark(ctx, mark) // else another process finds out itself
	}
}
