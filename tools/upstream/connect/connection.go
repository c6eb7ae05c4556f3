package connect

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcp-pruner/mcp-pruner/tools"
)

// connection is one connection to an upstream, from start to end.
type connection struct {
	link
	outside      func(context.Context) Caller // returns the client that answers requests that belong to no call; nil: none
	instructions string                       // the server's own instructions for its tools
	ids          atomic.Int64
	gone         chan struct{} // closed when the connection is no longer usable
	once         sync.Once

	mu    sync.Mutex
	calls map[string]*pendingCall // by progress token
	last  []*pendingCall          // in order of their start, with those that were cancelled a moment ago
}

// pendingCall is a call in progress, during which the upstream may send requests and notifications.
type pendingCall struct {
	token     string
	caller    Caller
	cancelled time.Time // zero: it was not
}

// pendingKey is the key of the call in the context of its request. A transport that receives an upstream's request in
// the answer to a call passes that context on.
type pendingKey struct{}

// Caller is the client side of a call. It receives progress and answers the upstream's requests (sampling,
// elicitation, roots).
type Caller interface {
	Notify(method string, params any)
	Ask(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, *tools.RPCError, error)
	ProgressToken() any
	Capabilities() json.RawMessage
	Session() any // identifies the client's session; comparable
}

// open performs the handshake over a link to a server. version is of this program.
func open(ctx context.Context, conn *connection, version string, notified func(mcp.JSONRPCNotification)) error {
	conn.transport.SetNotificationHandler(notified)
	if both, ok := conn.transport.(transport.BidirectionalInterface); ok {
		both.SetRequestHandler(conn.asked)
	}
	err := conn.transport.Start(context.Background()) // not ctx: the transport lives until close
	if err == nil {
		if conn.ended != nil {
			go func() {
				<-conn.ended
				conn.lost()
			}()
		}
		err = conn.initialize(ctx, version)
	}
	if err != nil {
		conn.close()
	}
	return err
}

// initialize performs the handshake. It announces the capabilities that clients of the gateway may have; a
// request that the actual client does not support gets an error.
func (c *connection) initialize(ctx context.Context, version string) error {
	result, err := c.request(ctx, "initialize", map[string]any{
		"protocolVersion": mcp.LATEST_LEGACY_PROTOCOL_VERSION,
		"clientInfo":      map[string]any{"name": "mcp-pruner-gateway", "version": version},
		"capabilities":    map[string]any{"sampling": struct{}{}, "elicitation": struct{}{}, "roots": map[string]any{"listChanged": true}},
	})
	if err != nil {
		return err
	}
	if result.Error != nil {
		return fmt.Errorf("initialize was refused: %s", result.Error.Message)
	}
	var answer struct {
		ProtocolVersion string `json:"protocolVersion"`
		Instructions    string `json:"instructions"`
	}
	if err := json.Unmarshal(result.Result, &answer); err != nil {
		return fmt.Errorf("the answer to initialize is unusable: %w", err)
	}
	c.instructions = answer.Instructions
	if h, ok := c.transport.(transport.HTTPConnection); ok {
		h.SetProtocolVersion(answer.ProtocolVersion)
	}
	return c.notify(ctx, "notifications/initialized", nil)
}

func (c *connection) notify(ctx context.Context, method string, params map[string]any) error {
	return c.transport.SendNotification(ctx, mcp.JSONRPCNotification{JSONRPC: mcp.JSONRPC_VERSION,
		Notification: mcp.Notification{Method: method, Params: mcp.NotificationParams{AdditionalFields: params}}})
}

// request sends one request and waits for its response. If ctx ends, it cancels the request at the
// upstream.
func (c *connection) request(ctx context.Context, method string, params any) (*transport.JSONRPCResponse, error) {
	id := c.ids.Add(1)
	answer, err := c.transport.SendRequest(ctx, transport.JSONRPCRequest{
		JSONRPC: mcp.JSONRPC_VERSION, ID: mcp.NewRequestId(id), Method: method, Params: params,
	})
	switch {
	case err == nil:
		return answer, nil
	case ctx.Err() != nil:
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeWithin)
		defer cancel()
		_ = c.notify(end, "notifications/cancelled", map[string]any{"requestId": id, "reason": "the client cancelled the call"})
		return nil, ctx.Err()
	case errors.Is(err, transport.ErrTransportClosed):
		c.lost()
		return nil, c.reason()
	case errors.Is(err, errOutboxFull), errors.Is(err, transport.ErrSessionTerminated):
		c.lost()
	}
	return nil, err
}

// call sends a tools/call. caller receives what the upstream sends during it.
func (c *connection) call(ctx context.Context, tool string, arguments map[string]any, meta map[string]any, caller Caller) (*transport.JSONRPCResponse, error) {
	params := map[string]any{"name": tool, "arguments": arguments}
	passed := make(map[string]any, len(meta)+1)
	for k, v := range meta {
		if !strings.HasPrefix(k, "io.modelcontextprotocol/") { // those describe the client's connection to the gateway, not the gateway's to the upstream
			passed[k] = v
		}
	}
	delete(passed, "progressToken")
	if caller != nil {
		pending, end := c.begin(caller)
		defer end(ctx)
		ctx = context.WithValue(ctx, pendingKey{}, pending)
		if caller.ProgressToken() != nil {
			passed["progressToken"] = pending.token
		}
	}
	if len(passed) > 0 {
		params["_meta"] = passed
	}
	return c.request(ctx, "tools/call", params)
}

// reason returns the reason why the connection to a child was lost.
func (c *connection) reason() error {
	select {
	case <-c.ended:
		return c.why()
	case <-time.After(closeWithin): // the process is still running, without an output
		return errors.New("it closed its output")
	}
}

func (c *connection) lost() { c.once.Do(func() { close(c.gone) }) }

// alive reports whether the connection is usable.
func (c *connection) alive() bool {
	select {
	case <-c.gone:
		return false
	default:
		return true
	}
}

func (c *connection) close() {
	c.lost()
	done := make(chan struct{})
	go func() {
		_ = c.transport.Close()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(closeWithin):
	}
	c.link.close()
}

func (c *connection) progress(fields map[string]any) {
	token, _ := fields["progressToken"].(string)
	c.mu.Lock()
	call := c.calls[token]
	c.mu.Unlock()
	if call == nil || call.caller.ProgressToken() == nil {
		return
	}
	passed := maps.Clone(fields)
	passed["progressToken"] = call.caller.ProgressToken()
	call.caller.Notify("notifications/progress", passed)
}

// asked passes an upstream's request to the session that caused it, or refuses it.
func (c *connection) asked(ctx context.Context, r transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
	refuse := func(code int, text string) *transport.JSONRPCResponse {
		return transport.NewJSONRPCErrorResponse(r.ID, code, text, nil)
	}
	if r.Method == "ping" {
		return transport.NewJSONRPCResultResponse(r.ID, json.RawMessage("{}")), nil
	}
	caller := c.answering(ctx)
	if r.Method == "roots/list" && !hasRoots(caller) {
		return transport.NewJSONRPCResultResponse(r.ID, json.RawMessage(`{"roots":[]}`)), nil
	}
	if caller == nil {
		return refuse(mcp.METHOD_NOT_FOUND, "there is no client that could answer, or several are using the server and it is not known which one is meant"), nil
	}
	var params json.RawMessage // a request without them goes on without them: null is not allowed
	if r.Params != nil {
		var err error
		if params, err = json.Marshal(r.Params); err != nil {
			return refuse(mcp.INVALID_PARAMS, "the params cannot be passed on"), nil
		}
	}
	result, failed, err := caller.Ask(ctx, r.Method, params)
	switch {
	case err != nil:
		return refuse(mcp.METHOD_NOT_FOUND, err.Error()), nil
	case failed != nil:
		return transport.NewJSONRPCErrorResponse(r.ID, failed.Code, failed.Message, failed.Data), nil
	}
	return transport.NewJSONRPCResultResponse(r.ID, result), nil
}

// answering returns the client that answers an upstream's request, or nil if there is none: that of the call in whose
// answer the request came, else the only session that is calling.
func (c *connection) answering(ctx context.Context) Caller {
	if call, ok := ctx.Value(pendingKey{}).(*pendingCall); ok {
		return call.caller
	}
	if caller, calling := c.only(); calling {
		return caller
	}
	if c.outside != nil {
		return c.outside(ctx)
	}
	return nil
}

// hasRoots reports whether a client announced the roots capability.
func hasRoots(c Caller) bool {
	var said struct{ Roots json.RawMessage }
	return c != nil && json.Unmarshal(c.Capabilities(), &said) == nil && said.Roots != nil
}

// cancelledFor is the time for which a cancelled call counts as one in progress: the upstream may not have noticed.
const cancelledFor = time.Minute

// only returns the latest caller if all calls in progress are of one session, else nil. An upstream sends requests and
// log messages during a call, but not every transport says during which, and another session must not get them. calling
// reports whether there are calls that were not cancelled.
func (c *connection) only() (caller Caller, calling bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last = slices.DeleteFunc(c.last, func(p *pendingCall) bool { return !p.cancelled.IsZero() && time.Since(p.cancelled) > cancelledFor })
	mixed := false
	for _, p := range c.last {
		mixed = mixed || p.caller.Session() != c.last[0].caller.Session()
		if p.cancelled.IsZero() {
			caller, calling = p.caller, true
		}
	}
	if mixed {
		return nil, calling
	}
	return caller, calling
}

// begin registers a call. end has to be called with the call's context when it has ended.
func (c *connection) begin(caller Caller) (p *pendingCall, end func(context.Context)) {
	p = &pendingCall{token: fmt.Sprintf("p%d", c.ids.Add(1)), caller: caller}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls[p.token] = p
	c.last = append(c.last, p)
	return p, func(ctx context.Context) {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.calls, p.token)
		if ctx.Err() != nil {
			p.cancelled = time.Now()
			return
		}
		c.last = slices.DeleteFunc(c.last, func(q *pendingCall) bool { return q == p })
	}
}
