package connect

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
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
	owner        Caller          // the only client whose connection it is; nil: several share it
	instructions string          // the server's own instructions for its tools
	capabilities json.RawMessage // of the server
	ids          atomic.Int64
	gone         chan struct{} // closed when the connection is no longer usable
	once         sync.Once

	mu        sync.Mutex
	calls     map[string]*pendingCall // by progress token
	last      []*pendingCall          // in order of their start, with those that were cancelled a moment ago
	questions []*question             // of the server, in their order
}

// pendingCall is a call in progress, during which the upstream may send requests and notifications.
type pendingCall struct {
	token     string
	session   any       // the caller's
	caller    Caller    // nil: cancelled; it may hold long arguments
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
	Modern() bool // it speaks protocol 2026-07-28 or later
	LogLevel() string
}

// open performs the handshake over a link to a server. version is of this program, capabilities are the client's.
func open(ctx context.Context, conn *connection, version string, capabilities json.RawMessage, notified func(mcp.JSONRPCNotification)) error {
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
		err = conn.initialize(ctx, version, capabilities)
	}
	if err != nil {
		conn.close()
	}
	return err
}

// everything has the capabilities that a connection declares if several clients share it. Each of them is asked only what it declared itself.
var everything = json.RawMessage(`{"sampling":{"tools":{},"context":{}},"elicitation":{"form":{},"url":{}},"roots":{"listChanged":true}}`)

// initialize performs the handshake.
func (c *connection) initialize(ctx context.Context, version string, capabilities json.RawMessage) error {
	if capabilities == nil {
		capabilities = everything
	}
	result, err := c.request(ctx, "initialize", map[string]any{
		"protocolVersion": mcp.LATEST_LEGACY_PROTOCOL_VERSION,
		"clientInfo":      map[string]any{"name": "mcp-pruner-gateway", "version": version},
		"capabilities":    capabilities,
	})
	if err != nil {
		return err
	}
	if result.Error != nil {
		return refusedHandshake(result.Error)
	}
	var answer struct {
		ProtocolVersion string          `json:"protocolVersion"`
		Instructions    string          `json:"instructions"`
		Capabilities    json.RawMessage `json:"capabilities"`
	}
	if err := json.Unmarshal(result.Result, &answer); err != nil {
		return fmt.Errorf("the answer to initialize is unusable: %w", err)
	}
	c.instructions, c.capabilities = bounded(answer.Instructions), answer.Capabilities
	if h, ok := c.transport.(transport.HTTPConnection); ok {
		h.SetProtocolVersion(answer.ProtocolVersion)
	}
	return c.notify(ctx, "notifications/initialized", nil)
}

// refusedHandshake returns why a server is of no use that does not take initialize.
func refusedHandshake(refusal *mcp.JSONRPCErrorDetails) error {
	if refusal.Code == mcp.UNSUPPORTED_PROTOCOL_VERSION || refusal.Code == mcp.METHOD_NOT_FOUND { // a server of protocol 2026-07-28 alone has no initialize
		return fmt.Errorf("it does not speak protocol %s or an earlier one, which the gateway needs (initialize was refused: %s)",
			mcp.LATEST_LEGACY_PROTOCOL_VERSION, refusal.Message)
	}
	return fmt.Errorf("initialize was refused: %s", refusal.Message)
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

// passOn sends a client's request with its params, which it changes. caller receives what the upstream sends during it.
func (c *connection) passOn(ctx context.Context, method string, params, meta map[string]any, caller Caller) (*transport.JSONRPCResponse, error) {
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
	if delete(params, "_meta"); len(passed) > 0 {
		params["_meta"] = passed
	}
	return c.request(ctx, method, params)
}

// maxInstructions is the number of bytes kept of a server's instructions, which clients put before their model.
const maxInstructions = 2000

// bounded returns a text cut to maxInstructions. It says that it was.
func bounded(text string) string {
	if text = strings.TrimSpace(text); len(text) <= maxInstructions {
		return text
	}
	return strings.ToValidUTF8(text[:maxInstructions], "") + " [the rest of these instructions is left out]"
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

// begin registers a call. end has to be called with the call's context when it has ended.
func (c *connection) begin(caller Caller) (p *pendingCall, end func(context.Context)) {
	told := func(context.Context) {}
	if c.owner == nil {
		q := &queued{Caller: caller}
		caller, told = q, q.end
	}
	p = &pendingCall{token: fmt.Sprintf("p%d", c.ids.Add(1)), session: caller.Session(), caller: caller}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls[p.token] = p
	c.last = append(c.last, p)
	return p, func(ctx context.Context) {
		told(ctx)
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.calls, p.token)
		c.over(p)
		if ctx.Err() != nil {
			p.cancelled, p.caller = time.Now(), nil
			return
		}
		c.last = slices.DeleteFunc(c.last, func(q *pendingCall) bool { return q == p })
	}
}
