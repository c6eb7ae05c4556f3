package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcp-pruner/mcp-pruner/tools/upstream"
)

// Time limits for an upstream, and the delay before the next attempt to connect.
const (
	startWithin = 60 * time.Second // npx downloads a package first
	listWithin  = 30 * time.Second
	closeWithin = 3 * time.Second
	retryAfter  = time.Second
	maxPages    = 200
)

// server is one upstream: its process or address, its connection if there is one, and its tools.
type server struct {
	config  ServerConfig
	version string // of this program, sent to the upstream
	dial    func(ServerConfig) (link, error)
	outside func(context.Context) Caller // returns the client that answers requests that belong to no call
	changed func()                       // called when the server's offer changes
	note    func(event string, facts map[string]any)

	life context.Context // ended by close
	end  context.CancelFunc

	mu      sync.Mutex
	conn    *connection
	pending chan struct{} // closed when the attempt in progress has ended; nil: there is none
	err     error         // the reason why there is no connection
	failed  time.Time     // time of the latest failed attempt
	offer   offer
	known   bool // offer is valid, from the upstream or from the cache
}

// offer is the tools and instructions of a server.
type offer struct {
	tools        []upstream.Definition
	instructions string
	raw          []byte // the JSON that both were read from
}

var errEnding = errors.New("the gateway is ending")

// connect returns the connection and opens one if necessary. Only one attempt runs at a time, and all
// callers wait for it. After a failure the next attempt is delayed by a second.
func (s *server) connect(ctx context.Context) (*connection, error) {
	for {
		s.mu.Lock()
		switch {
		case s.life.Err() != nil:
			s.mu.Unlock()
			return nil, errEnding
		case s.conn != nil && s.conn.alive():
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
	ctx, cancel := context.WithTimeout(s.life, startWithin)
	defer cancel()
	started := time.Now()
	conn, err := s.open(ctx)
	if err == nil {
		err = s.refresh(ctx, conn)
		if err != nil {
			conn.close()
		}
	}
	if err != nil {
		err = redacted(err, s.config)
	}
	s.mu.Lock()
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
}

// watch waits for the end of a connection, so that the next call opens a new one.
func (s *server) watch(conn *connection) {
	<-conn.gone
	s.mu.Lock()
	lost := s.conn == conn
	if lost {
		s.conn, s.err = nil, nil
	}
	s.mu.Unlock()
	conn.close()
	if lost && s.life.Err() == nil {
		s.note("gateway.upstream_lost", map[string]any{"upstream": s.config.Name})
	}
}

// refresh requests the list of tools, page by page.
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
	return s.take(remembered{conn.instructions, pages})
}

// take makes the server's latest answer its offer, and saves it for the next start.
func (s *server) take(said remembered) error {
	list, problems, err := upstream.ParseList(s.config.Name, said.Pages...)
	if err != nil {
		return err
	}
	raw, err := json.Marshal(said)
	if err != nil {
		return fmt.Errorf("tools/list: %w", err)
	}
	s.mu.Lock()
	same := s.known && bytes.Equal(raw, s.offer.raw)
	s.offer, s.known = offer{list, said.Instructions, raw}, true
	s.mu.Unlock()
	if same {
		return nil
	}
	for _, p := range problems {
		s.note("gateway.upstream_tool_skipped", map[string]any{"upstream": s.config.Name, "message": p})
	}
	store(s.config, raw)
	s.changed()
	return nil
}

// notified handles an upstream's notification: a changed list, the progress of a call, or a log message.
func (s *server) notified(conn *connection, n mcp.JSONRPCNotification) {
	switch n.Method {
	case "notifications/tools/list_changed":
		go func() { _ = s.refresh(s.life, conn) }() // on an error the previous offer stays
	case "notifications/progress":
		conn.progress(n.Params.AdditionalFields)
	case "notifications/message":
		if caller, _ := conn.only(); caller != nil {
			caller.Notify(n.Method, n.Params.AdditionalFields)
		}
	}
}

// call sends a tools/call and returns the upstream's answer unchanged. If the server no longer knows the
// session, as after a restart, the call is sent once more.
func (s *server) call(ctx context.Context, tool string, arguments map[string]any, meta map[string]any, caller Caller) (*transport.JSONRPCResponse, error) {
	for again := false; ; again = true {
		conn, err := s.connect(ctx)
		if err != nil {
			return nil, err
		}
		answer, err := conn.call(ctx, tool, arguments, meta, caller)
		if again || !forgotten(answer, err) {
			return answer, err
		}
		conn.lost()
	}
}

// forgotten reports whether a server refused the session rather than the call.
func forgotten(answer *transport.JSONRPCResponse, err error) bool {
	return errors.Is(err, transport.ErrSessionTerminated) || err == nil && answer.Error != nil && answer.ID.IsNil()
}

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

// list returns the server's known offer, and the reason why it is not connected.
func (s *server) list() (o offer, known bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.offer, s.known, s.err
}

// tell sends a notification to the server if it is connected.
func (s *server) tell(ctx context.Context, method string) {
	s.mu.Lock()
	conn := s.conn
	s.mu.Unlock()
	if conn != nil {
		_ = conn.notify(ctx, method, nil) // a server that was gone asks again after it reconnects
	}
}

// close ends the server, including an attempt to connect to it.
func (s *server) close() {
	s.end()
	s.mu.Lock()
	pending := s.pending
	s.mu.Unlock()
	if pending != nil {
		<-pending
	}
	s.mu.Lock()
	conn := s.conn
	s.conn = nil
	s.mu.Unlock()
	if conn != nil {
		conn.close()
	}
}
