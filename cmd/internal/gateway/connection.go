package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"mcp-pruner/tools"
)

// connection is one life of an upstream.
type connection struct {
	link
	outside      func(context.Context) Caller // who answers a question that belongs to no call; nil: nobody
	instructions string                       // what the server says its tools are for
	ids          atomic.Int64
	gone         chan struct{} // closed when it is of no more use
	once         sync.Once

	mu    sync.Mutex
	calls map[string]*pendingCall // by progress token
	last  []*pendingCall          // in the order they were made
}

// pendingCall is a call under way that the upstream may ask or tell something.
type pendingCall struct {
	token  string
	caller Caller
}

// Caller is the client's side of a call: where progress goes, and who answers what
// an upstream asks (sampling, elicitation, roots).
type Caller interface {
	Notify(method string, params any)
	Ask(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, *tools.RPCError, error)
	ProgressToken() any
	Capabilities() json.RawMessage
}

// open starts or reaches the server and shakes hands.
func (s *server) open(ctx context.Context) (*connection, error) {
	l, err := s.dial(s.config)
	if err != nil {
		return nil, err
	}
	conn := &connection{link: l, outside: s.outside, calls: map[string]*pendingCall{}, gone: make(chan struct{})}
	l.transport.SetNotificationHandler(func(n mcp.JSONRPCNotification) { s.notified(conn, n) })
	if both, ok := l.transport.(transport.BidirectionalInterface); ok {
		both.SetRequestHandler(conn.asked)
	}
	if err = l.transport.Start(context.Background()); err == nil { // it ends with close
		if l.ended != nil {
			go func() {
				<-l.ended
				conn.lost()
			}()
		}
		err = conn.initialize(ctx, s.version)
	}
	if err != nil {
		conn.close()
		return nil, err
	}
	return conn, nil
}

// initialize shakes hands. The capabilities are those a client of ours may have: a
// request that this client cannot answer gets an error back.
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

// request sends one request and waits. A context that ends cancels it upstream.
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

// reason is why a child's connection was cut.
func (c *connection) reason() error {
	select {
	case <-c.ended:
		return c.why()
	case <-time.After(closeWithin): // it goes on without an output
		return errors.New("it closed its output")
	}
}

func (c *connection) lost() { c.once.Do(func() { close(c.gone) }) }

// alive says whether the connection is of use.
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
	passed := make(map[string]any, len(fields))
	for k, v := range fields {
		passed[k] = v
	}
	passed["progressToken"] = call.caller.ProgressToken()
	call.caller.Notify("notifications/progress", passed)
}

// asked passes an upstream's request to the client whose call came last: a server
// asks while it works on a call, and says only over some transports on which.
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
		return refuse(mcp.METHOD_NOT_FOUND, "no client is there that could answer"), nil
	}
	params, err := json.Marshal(r.Params)
	if err != nil {
		return refuse(mcp.INVALID_PARAMS, "the params cannot be passed on"), nil
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

// answering is the client that answers a server's question; nil: none does.
func (c *connection) answering(ctx context.Context) Caller {
	if call := c.latest(); call != nil {
		return call.caller
	}
	if c.outside != nil {
		return c.outside(ctx)
	}
	return nil
}

// hasRoots says whether a client said that it has roots.
func hasRoots(c Caller) bool {
	var said struct{ Roots json.RawMessage }
	return c != nil && json.Unmarshal(c.Capabilities(), &said) == nil && said.Roots != nil
}

func (c *connection) latest() *pendingCall {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.last) == 0 {
		return nil
	}
	return c.last[len(c.last)-1]
}

func (c *connection) begin(caller Caller) (*pendingCall, func()) {
	p := &pendingCall{token: fmt.Sprintf("p%d", c.ids.Add(1)), caller: caller}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls[p.token] = p
	c.last = append(c.last, p)
	return p, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.calls, p.token)
		for i, q := range c.last {
			if q == p {
				c.last = append(c.last[:i:i], c.last[i+1:]...)
				break
			}
		}
	}
}
