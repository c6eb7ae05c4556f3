package mcpserver

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/mcp-pruner/mcp-pruner/tools"
)

// Caller is the client behind a call. Tools use it to communicate with the client during the call.
type Caller struct {
	session  *Session
	notify   func(line []byte)
	params   params // their _meta only
	extra    map[string]any
	raw      json.RawMessage // all params
	standing bool            // belongs to no request
	atEnd    []func()
}

// callExtras are the params of a tools/call, beside name, arguments and _meta, that its tool may need.
var callExtras = []string{"task", "inputResponses", "requestState"}

func callerOf(session *Session, m Message) *Caller {
	notify := m.Notify
	if notify == nil && session.reachable() {
		notify = session.send
	}
	p := m.params()
	c := &Caller{session: session, notify: notify, params: params{meta: p.meta}, raw: m.Params}
	for _, key := range callExtras {
		if value, has := p.object[key]; has {
			if c.extra == nil {
				c.extra = map[string]any{}
			}
			c.extra[key] = value
		}
	}
	return c
}

// Extra returns the params of a tools/call other than name, arguments and _meta: task, and the answers of a client of
// protocol 2026-07-28 to what a result asked for.
func (c *Caller) Extra() map[string]any { return c.extra }

// Params returns all params of the request as the client spelled them.
func (c *Caller) Params() json.RawMessage { return c.raw }

// Modern reports whether the request is of protocol 2026-07-28 or later.
func (c *Caller) Modern() bool { return c.params.modern() }

// LogLevel returns the least level of the log messages that the client wants, or "". A request of protocol 2026-07-28 asks
// for them itself; in older ones the level is set once for a session, and "" is the server's choice.
func (c *Caller) LogLevel() string {
	if c.Modern() {
		level, _ := c.params.meta[logLevelKey].(string)
		return level
	}
	c.session.mu.Lock()
	defer c.session.mu.Unlock()
	return c.session.level
}

// SetLogLevel sets the least level of the log messages that the session's client wants.
func (c *Caller) SetLogLevel(level string) {
	c.session.mu.Lock()
	defer c.session.mu.Unlock()
	c.session.level = level
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

// Session identifies the client's session. A message without a session has one of its own.
func (c *Caller) Session() any { return c.session }

// Standing returns the client without the request: what it is sent reaches it outside of any request, or nobody.
func (c *Caller) Standing() *Caller { return c.session.standing() }

// Holder identifies who keeps what a server holds for the caller: its session; without one, the owner of its key; without
// a key, where it comes from. It is comparable. subject is the owner of the key, or nil without keys.
func (c *Caller) Holder() (holder, subject any) {
	s := c.session
	s.mu.Lock()
	if s.subject != nil {
		subject = *s.subject
	}
	s.mu.Unlock()
	switch {
	case s.alone && subject != nil:
		return subject, subject
	case s.alone:
		return s.origin, nil
	}
	return s, subject
}

// Alone reports whether the request belongs to no session.
func (c *Caller) Alone() bool { return c.session.alone }

// Listening reports whether the client can be sent something outside of a request.
func (c *Caller) Listening() bool { return c.session.reachable() }

// Client returns the client's name.
func (c *Caller) Client() string { return c.session.client(c.params) }

// ProgressToken returns the token for progress notifications of this call, or nil if the client wants none.
func (c *Caller) ProgressToken() any { return c.params.meta["progressToken"] }

// Meta returns the call's _meta, which must not be changed, or nil if it has none. Numbers keep their spelling.
func (c *Caller) Meta() map[string]any { return c.params.meta }

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
	fields := map[string]any{"method": method}
	if params != nil {
		fields["params"] = params
	}
	c.notify(message(fields))
}

// ErrNoWay means that the client cannot be sent requests: its transport has no channel for them, or the
// answer could not be attributed to a client.
var ErrNoWay = errors.New("this client cannot be asked")

// Ask sends a request to the client and waits for its answer, which is a result or a JSON-RPC error. err is
// ErrNoWay or ctx's error.
func (c *Caller) Ask(ctx context.Context, method string, params json.RawMessage) (result json.RawMessage, rpc *tools.RPCError, err error) {
	if c.notify == nil || c.session.alone || c.Modern() || c.standing && !c.session.initialized(ctx) {
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
		c.Notify("notifications/cancelled", map[string]any{"requestId": id, "reason": "the server that asked needs no answer any more"})
		return nil, nil, ctx.Err()
	}
}

// standing returns the session's client, outside of any request.
func (s *Session) standing() *Caller { return &Caller{session: s, notify: s.send, standing: true} }
