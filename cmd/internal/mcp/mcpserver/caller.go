package mcpserver

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/mcp-pruner/mcp-pruner/tools"
)

// Caller is the client behind a call. Tools use it to communicate with the client during the call.
type Caller struct {
	session *Session
	notify  func(line []byte)
	params  params
	atEnd   []func()
}

// AtEnd registers do to be called when the answer has been written, or when it is certain that it never
// will be.
func (c *Caller) AtEnd(do func()) { c.atEnd = append(c.atEnd, do) }

func (c *Caller) ended() {
	for _, do := range c.atEnd {
		do()
	}
}

type callerKey struct{}

// CallerOf returns the caller of the call that ctx belongs to, or nil if there is none.
func CallerOf(ctx context.Context) *Caller {
	c, _ := ctx.Value(callerKey{}).(*Caller)
	return c
}

func withCaller(ctx context.Context, c *Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}

// Session identifies the client's session. A message without a session has one of its own.
func (c *Caller) Session() any { return c.session }

// Client returns the client's name.
func (c *Caller) Client() string { return c.session.client(c.params) }

// ProgressToken returns the token for progress notifications of this call, or nil if the client wants none.
func (c *Caller) ProgressToken() any { return c.params.meta["progressToken"] }

// Meta returns the call's _meta, or nil if it has none.
func (c *Caller) Meta() json.RawMessage {
	if c.params.meta == nil {
		return nil
	}
	return plain(c.params.meta)
}

// Capabilities returns the client's capabilities from the call or from initialize, or nil if it sent none.
func (c *Caller) Capabilities() json.RawMessage {
	if said, ok := c.params.meta[capabilitiesKey]; ok {
		return plain(said)
	}
	c.session.mu.Lock()
	defer c.session.mu.Unlock()
	return c.session.capabilities
}

// Notify sends a notification to the client. Without a channel to the client it does nothing.
func (c *Caller) Notify(method string, params any) {
	if c.notify == nil {
		return
	}
	c.notify(message(map[string]any{"method": method, "params": params}))
}

// ErrNoWay means that the client cannot be sent requests: its transport has no channel for them, or the
// answer could not be attributed to a client.
var ErrNoWay = errors.New("this client cannot be asked")

// Ask sends a request to the client and waits for its answer, which is a result or a JSON-RPC error. err is
// ErrNoWay or ctx's error.
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

// message encodes a JSON-RPC message of the server's own as a line.
func message(fields map[string]any) []byte {
	fields["jsonrpc"] = "2.0"
	return append(plain(fields), '\n')
}
