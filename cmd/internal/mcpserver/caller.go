package mcpserver

import (
	"context"
	"encoding/json"
	"errors"

	"mcp-pruner/tools"
)

// Caller is the client behind a call, for tools that talk to it while they work.
type Caller struct {
	session *Session
	notify  func(line []byte)
	params  params
	atEnd   []func()
}

// AtEnd has do called when the answer has been written, or never will be.
func (c *Caller) AtEnd(do func()) { c.atEnd = append(c.atEnd, do) }

func (c *Caller) ended() {
	for _, do := range c.atEnd {
		do()
	}
}

type callerKey struct{}

// CallerOf returns the caller of the call that ctx belongs to; nil when there is none.
func CallerOf(ctx context.Context) *Caller {
	c, _ := ctx.Value(callerKey{}).(*Caller)
	return c
}

func withCaller(ctx context.Context, c *Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}

// Client is the client's name.
func (c *Caller) Client() string { return c.session.client(c.params) }

// ProgressToken is the token for progress of this call; nil: the client wants none.
func (c *Caller) ProgressToken() any { return c.params.meta["progressToken"] }

// Meta is the call's _meta; nil when it has none.
func (c *Caller) Meta() json.RawMessage {
	if c.params.meta == nil {
		return nil
	}
	return plain(c.params.meta)
}

// Capabilities are the client's, as it said with the call or in initialize; nil when
// it said nothing.
func (c *Caller) Capabilities() json.RawMessage {
	if said, ok := c.params.meta[capabilitiesKey]; ok {
		return plain(said)
	}
	c.session.mu.Lock()
	defer c.session.mu.Unlock()
	return c.session.capabilities
}

// Notify sends a notification to the client, where there is a way to.
func (c *Caller) Notify(method string, params any) {
	if c.notify == nil {
		return
	}
	c.notify(message(map[string]any{"method": method, "params": params}))
}

// ErrNoWay says that the client cannot be asked: its transport has no way back, or it
// would not be known whose answer comes.
var ErrNoWay = errors.New("this client cannot be asked")

// Ask sends a request to the client and waits for its answer: a result or a JSON-RPC
// error. err is ErrNoWay, or ctx's.
func (c *Caller) Ask(ctx context.Context, method string, params json.RawMessage) (result json.RawMessage, rpc *tools.RPCError, err error) {
	if c.notify == nil || c.session.alone {
		return nil, nil, ErrNoWay
	}
	id, answers, done := c.session.expect()
	defer done()
	request := map[string]any{"id": id, "method": method}
	if params != nil {
		request["params"] = params
	}
	c.notify(message(request))
	select {
	case m := <-answers:
		if m.problem == nil {
			return m.result, nil, nil
		}
		rpc = new(tools.RPCError)
		if json.Unmarshal(m.problem, rpc) != nil {
			rpc = &tools.RPCError{Code: codeInternalError, Message: "the client's error cannot be read"}
		}
		return nil, rpc, nil
	case <-ctx.Done():
		return nil, nil, ctx.Err()
	}
}

// message is a line of the server's own.
func message(fields map[string]any) []byte {
	fields["jsonrpc"] = "2.0"
	return append(plain(fields), '\n')
}
