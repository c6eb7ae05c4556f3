package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"mcp-pruner/tools"
	"mcp-pruner/tools/upstream"
)

// How long an upstream may take, and how soon it is tried again.
const (
	startWithin = 60 * time.Second // npx downloads a package first
	listWithin  = 30 * time.Second
	closeWithin = 3 * time.Second
	retryAfter  = time.Second
	maxPages    = 200
)

// server is one upstream: its process or address, its connection while there is
// one, and its tools.
type server struct {
	config  ServerConfig
	version string // of this program, told to the upstream
	dial    func(context.Context, ServerConfig) (transport.Interface, func(), error)
	changed func() // called when the tools may be others
	note    func(event string, facts map[string]any)

	mu      sync.Mutex
	conn    *connection
	pending chan struct{} // closed when the attempt under way is over; nil: none is
	err     error         // why there is no connection
	failed  time.Time     // when the last attempt failed
	tools   []upstream.Definition
	known   bool // tools are known, from the upstream or from the cache
	closed  bool
}

// connection is one life of an upstream.
type connection struct {
	transport transport.Interface
	stop      func() // ends the process and whatever it started
	ids       atomic.Int64
	gone      chan struct{}
	once      sync.Once

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
}

// connect returns the connection, making one if need be. One attempt runs at a time
// and everybody waits for it; after a failure the next one waits a second.
func (s *server) connect(ctx context.Context) (*connection, error) {
	for {
		s.mu.Lock()
		switch {
		case s.closed:
			s.mu.Unlock()
			return nil, errors.New("the gateway is ending")
		case s.conn != nil:
			defer s.mu.Unlock()
			return s.conn, nil
		case s.pending == nil && s.err != nil && time.Since(s.failed) < retryAfter:
			defer s.mu.Unlock()
			return nil, s.err
		case s.pending == nil:
			s.pending = make(chan struct{})
			go s.attempt(s.pending)
		}
		pending := s.pending
		s.mu.Unlock()
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-pending:
		}
		s.mu.Lock()
		conn, err := s.conn, s.err
		s.mu.Unlock()
		if conn != nil || err != nil {
			return conn, err
		}
	}
}

func (s *server) attempt(done chan struct{}) {
	ctx, cancel := context.WithTimeout(context.Background(), startWithin)
	defer cancel()
	started := time.Now()
	conn, err := s.open(ctx)
	if err == nil {
		err = s.refresh(ctx, conn)
		if err != nil {
			conn.close()
		}
	}
	s.mu.Lock()
	if s.closed && err == nil {
		conn.close()
		err = errors.New("the gateway is ending")
	}
	s.conn, s.err, s.pending = nil, err, nil
	if err == nil {
		s.conn = conn
	} else {
		s.failed = time.Now()
	}
	s.mu.Unlock()
	close(done)
	facts := map[string]any{"upstream": s.config.Name, "duration_ms": time.Since(started).Milliseconds()}
	if err != nil {
		facts["message"] = err.Error()
		s.note("gateway.upstream_failed", facts)
	} else {
		s.note("gateway.upstream_ready", facts)
		go s.watch(conn)
	}
	s.changed()
}

// watch notices the end of a connection, so that the next call makes a new one.
func (s *server) watch(conn *connection) {
	<-conn.gone
	s.mu.Lock()
	lost := s.conn == conn
	if lost {
		s.conn, s.err = nil, nil
	}
	ending := s.closed
	s.mu.Unlock()
	conn.close()
	if lost && !ending {
		s.note("gateway.upstream_lost", map[string]any{"upstream": s.config.Name})
	}
}

func (s *server) open(ctx context.Context) (*connection, error) {
	// The transport outlives the attempt: its own context ends with the connection.
	life, stop := context.WithCancel(context.Background())
	t, kill, err := s.dial(life, s.config)
	if err != nil {
		stop()
		return nil, err
	}
	conn := &connection{transport: t, calls: map[string]*pendingCall{}, gone: make(chan struct{})}
	conn.stop = func() { stop(); kill() }
	t.SetNotificationHandler(func(n mcp.JSONRPCNotification) { s.notified(conn, n) })
	if both, ok := t.(transport.BidirectionalInterface); ok {
		both.SetRequestHandler(conn.asked)
	}
	if err := t.Start(life); err != nil {
		conn.close()
		return nil, err
	}
	if err := conn.initialize(ctx, s.version); err != nil {
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
	}
	if err := json.Unmarshal(result.Result, &answer); err != nil {
		return fmt.Errorf("the answer to initialize is unusable: %w", err)
	}
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
	case errors.Is(err, transport.ErrTransportClosed), strings.Contains(err.Error(), "write request"), errors.Is(err, transport.ErrSessionTerminated):
		c.lost()
	}
	return nil, err
}

func (c *connection) lost() { c.once.Do(func() { close(c.gone) }) }

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
	c.stop()
}

// refresh asks for the tools, page by page.
func (s *server) refresh(ctx context.Context, conn *connection) error {
	ctx, cancel := context.WithTimeout(ctx, listWithin)
	defer cancel()
	var pages []json.RawMessage
	for cursor, page := "", 0; page < maxPages; page++ {
		params := map[string]any{}
		if cursor != "" {
			params["cursor"] = cursor
		}
		answer, err := conn.request(ctx, "tools/list", params)
		if err != nil {
			return err
		}
		if answer.Error != nil {
			if page == 0 && answer.Error.Code == mcp.METHOD_NOT_FOUND {
				break // a server without tools
			}
			return fmt.Errorf("tools/list was refused: %s", answer.Error.Message)
		}
		pages = append(pages, answer.Result)
		var next struct {
			Cursor string `json:"nextCursor"`
		}
		_ = json.Unmarshal(answer.Result, &next)
		if next.Cursor == "" || next.Cursor == cursor {
			break
		}
		cursor = next.Cursor
	}
	list, problems, err := upstream.ParseList(s.config.Name, pages...)
	if err != nil {
		return err
	}
	for _, p := range problems {
		s.note("gateway.upstream_tool_skipped", map[string]any{"upstream": s.config.Name, "message": p})
	}
	s.mu.Lock()
	s.tools, s.known = list, true
	s.mu.Unlock()
	store(s.config, pages)
	return nil
}

// notified takes what an upstream tells: a changed list, or progress of a call.
func (s *server) notified(conn *connection, n mcp.JSONRPCNotification) {
	switch n.Method {
	case "notifications/tools/list_changed":
		go func() {
			if err := s.refresh(context.Background(), conn); err == nil {
				s.changed()
			}
		}()
	case "notifications/progress":
		conn.progress(n.Params.AdditionalFields)
	case "notifications/message":
		if call := conn.latest(); call != nil {
			call.caller.Notify(n.Method, n.Params.AdditionalFields)
		}
	}
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
	call := c.latest()
	if call == nil {
		if r.Method == "roots/list" {
			return transport.NewJSONRPCResultResponse(r.ID, json.RawMessage(`{"roots":[]}`)), nil
		}
		return refuse(mcp.METHOD_NOT_FOUND, "no call is under way whose client could answer"), nil
	}
	params, err := json.Marshal(r.Params)
	if err != nil {
		return refuse(mcp.INVALID_PARAMS, "the params cannot be passed on"), nil
	}
	result, failed, err := call.caller.Ask(ctx, r.Method, params)
	switch {
	case err != nil:
		return refuse(mcp.METHOD_NOT_FOUND, err.Error()), nil
	case failed != nil:
		return transport.NewJSONRPCErrorResponse(r.ID, failed.Code, failed.Message, failed.Data), nil
	}
	return transport.NewJSONRPCResultResponse(r.ID, result), nil
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

// call makes a tools/call and returns the upstream's answer as it came.
func (s *server) call(ctx context.Context, tool string, arguments map[string]any, meta map[string]any, caller Caller) (*transport.JSONRPCResponse, error) {
	conn, err := s.connect(ctx)
	if err != nil {
		return nil, err
	}
	params := map[string]any{"name": tool, "arguments": arguments}
	passed := make(map[string]any, len(meta)+1)
	for k, v := range meta {
		if !strings.HasPrefix(k, "io.modelcontextprotocol/") { // of our connection, not of theirs
			passed[k] = v
		}
	}
	delete(passed, "progressToken")
	if caller != nil {
		pending, end := conn.begin(caller)
		defer end()
		if caller.ProgressToken() != nil {
			passed["progressToken"] = pending.token
		}
	}
	if len(passed) > 0 {
		params["_meta"] = passed
	}
	return conn.request(ctx, "tools/call", params)
}

// list is what is known of the server's tools, and why it is not connected.
func (s *server) list() (tools []upstream.Definition, known bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tools, s.known, s.err
}

func (s *server) close() {
	s.mu.Lock()
	s.closed = true
	conn := s.conn
	s.conn = nil
	s.mu.Unlock()
	if conn != nil {
		conn.close()
	}
}
