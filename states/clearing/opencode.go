package clearing

import (
	"context"

	"github.com/mcp-pruner/mcp-pruner/fsm"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc/wire"
)

// Opencode clears old results in the messages that opencode is about to send, as the proxy does in a request. It returns
// the replacements by call id. The originals are stored first. folder is where opencode works.
func (e *Engine) Opencode(ctx context.Context, folder, session string, messages []byte) (map[string]string, error) {
	c, err := wire.ParseOpencode(messages)
	if err != nil {
		return nil, err
	}
	c.Alias(session)
	c.WorksIn(folder)
	o, err := e.RewriteStored(ctx, c, agent.Opencode.Name)
	if err != nil {
		return nil, err
	}
	e.Tell(agent.Opencode.Name, c, o)
	return wire.OpencodeOutputs(messages, o.Body)
}

// RewriteStored is Rewrite that returns when all that the request's history leads to is stored, so that every process makes the same
// of it from then on.
func (e *Engine) RewriteStored(ctx context.Context, c *wire.Conversation, client string) (o Outcome, err error) {
	for gaveWay := true; gaveWay; { // to another process, which decided otherwise at an earlier place
		if o, err = e.Rewrite(ctx, c, client, true); err == nil {
			gaveWay, err = e.flush(ctx)
		}
		if err != nil {
			return Outcome{}, err
		}
	}
	return o, nil
}

// Tell emits the event of what was cleared anew, if anything.
func (e *Engine) Tell(api string, c *wire.Conversation, o Outcome) {
	if o.Fresh > 0 {
		e.Machine.Emit(fsm.NewEvent("proxy.cleared", "", fsm.Facts{"api": api, "session": c.Session, "results": o.Fresh, "message": o.Why}))
	}
}
