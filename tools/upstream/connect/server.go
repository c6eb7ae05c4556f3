package connect

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
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
	retryAfter  = time.Second
	maxPages    = 200
)

// Options are what all servers share.
type Options struct {
	Version string   // of this program, sent to the upstreams
	Env     []string // of upstream processes; their own variables are added

	Outside func(context.Context) Caller             // returns the client that answers requests that belong to no call; nil: none
	Note    func(event string, facts map[string]any) // receives events about upstreams
	Stderr  func(server, line string)                // receives the lines of their standard error
	Changed func()                                   // called when a server's offer changes
}

// Server is one upstream: its process or address, its connection if there is one, and its tools.
type Server struct {
	config  Config
	options Options

	life context.Context // ended by Close
	end  context.CancelFunc

	mu      sync.Mutex
	conn    *connection
	pending chan struct{} // closed when the attempt in progress has ended; nil: there is none
	err     error         // the reason why there is no connection
	failed  time.Time     // time of the latest failed attempt
	offer   Offer
	known   bool // offer is valid, from the upstream or from the cache
}

// New returns a server that is not connected. Its offer is that of the last start, if that is known.
func New(c Config, o Options) *Server {
	s := &Server{config: c, options: o}
	s.life, s.end = context.WithCancel(context.Background())
	s.offer, s.known = recall(c)
	return s
}

// Name returns the server's name in the configuration.
func (s *Server) Name() string { return s.config.Name }

// Connect returns when the server is connected, or the reason why it is not.
func (s *Server) Connect(ctx context.Context) error {
	_, err := s.connect(ctx)
	return err
}

var errEnding = errors.New("the gateway is ending")

// connect returns the connection and opens one if necessary. Only one attempt runs at a time, and all
// callers wait for it. After a failure the next attempt is delayed by a second.
func (s *Server) connect(ctx context.Context) (*connection, error) {
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

func (s *Server) attempt(done chan struct{}) {
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
		s.options.Note("gateway.upstream_failed", facts)
	} else {
		s.options.Note("gateway.upstream_ready", facts)
		go s.watch(conn)
	}
}

// open starts or connects to the server.
func (s *Server) open(ctx context.Context) (*connection, error) {
	l, err := dial(s.config, s.options.Env, func(line string) { s.options.Stderr(s.config.Name, withoutSecrets(line, s.config)) })
	if err != nil {
		return nil, err
	}
	conn := &connection{link: l, outside: s.options.Outside, calls: map[string]*pendingCall{}, gone: make(chan struct{})}
	return conn, open(ctx, conn, s.options.Version, func(n mcp.JSONRPCNotification) { s.notified(conn, n) })
}

// watch waits for the end of a connection, so that the next call opens a new one.
func (s *Server) watch(conn *connection) {
	<-conn.gone
	s.mu.Lock()
	lost := s.conn == conn
	if lost {
		s.conn, s.err = nil, nil
	}
	s.mu.Unlock()
	conn.close()
	if lost && s.life.Err() == nil {
		s.options.Note("gateway.upstream_lost", map[string]any{"upstream": s.config.Name})
	}
}

// refresh requests the list of tools, page by page.
func (s *Server) refresh(ctx context.Context, conn *connection) error {
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
func (s *Server) take(said remembered) error {
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
	s.offer, s.known = Offer{list, said.Instructions, raw}, true
	s.mu.Unlock()
	if same {
		return nil
	}
	for _, p := range problems {
		s.options.Note("gateway.upstream_tool_skipped", map[string]any{"upstream": s.config.Name, "message": p})
	}
	store(s.config, raw)
	s.options.Changed()
	return nil
}

// notified handles an upstream's notification: a changed list, the progress of a call, or a log message.
func (s *Server) notified(conn *connection, n mcp.JSONRPCNotification) {
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

// Call sends a tools/call and returns the upstream's answer unchanged. Errors of the upstream are of type tools.Error.
// caller, which may be nil, receives what the upstream sends during the call; meta is the call's _meta.
func (s *Server) Call(ctx context.Context, tool string, arguments, meta map[string]any, caller Caller) (Answer, error) {
	result, err := s.send(ctx, tool, arguments, meta, caller)
	switch {
	case ctx.Err() != nil:
		return Answer{}, ctx.Err()
	case err != nil:
		return Answer{}, unavailable(s.config, err)
	case result.Error != nil:
		return Answer{}, refused(s.config, result)
	}
	return passed(s.config, result.Result)
}

// send sends a tools/call. If the server no longer knows the session, as after a restart, it is sent once more.
func (s *Server) send(ctx context.Context, tool string, arguments, meta map[string]any, caller Caller) (*transport.JSONRPCResponse, error) {
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

// Offer returns the server's known offer, and the reason why it is not connected.
func (s *Server) Offer() (o Offer, known bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.offer, s.known, s.err
}

// Tell sends a notification to the server if it is connected.
func (s *Server) Tell(method string) {
	s.mu.Lock()
	conn := s.conn
	s.mu.Unlock()
	if conn != nil {
		_ = conn.notify(s.life, method, nil) // a server that was gone asks again after it reconnects
	}
}

// Close ends the server, including an attempt to connect to it.
func (s *Server) Close() {
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
