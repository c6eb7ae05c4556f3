package connect

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcp-pruner/mcp-pruner/tools"
	"github.com/mcp-pruner/mcp-pruner/tools/upstream"
)

// Time limits for an upstream, and the pauses before attempts to connect.
const (
	startWithin = 60 * time.Second // npx downloads a package first
	listWithin  = 30 * time.Second
	retryAfter  = time.Second     // and twice as long after each further failure
	retryAtMost = 5 * time.Minute // between attempts in the background
	steadyAfter = time.Minute     // a connection that lived that long ends a series of failures
)

// Options are the settings that all servers share.
type Options struct {
	Version string   // of this program, sent to the upstreams
	Env     []string // of upstream processes; their own variables are added

	Token func(name string) (string, error) // returns the token of the subject whose connections these are; nil: there are none

	Resumed bool // its client had another connection before, which was closed

	Persistent bool // a connection that is lost, or could not be opened, is tried again in the background; its offer is kept for the next start

	Note    func(event string, facts map[string]any) // receives events about upstreams
	Stderr  func(server, line string)                // receives the lines of their standard error
	Changed func(before, after Offer)                // called when a server's offer changes
}

// Server is one upstream: its process or address, its connection if there is one, and its tools.
type Server struct {
	config  Config
	options Options

	life context.Context // ended by Close
	end  context.CancelFunc

	changes changes
	telling atomic.Int32 // notifications of clients that are being sent

	mu           sync.Mutex
	opening      Config          // the entry with the subject's tokens, which stay out of errors and logs
	owner        Caller          // the only client; nil: several share the server
	capabilities json.RawMessage // declared to the server; nil: everything
	level        string          // of the log messages that clients want; "": the server's own
	watched      watched
	subscribed   map[string]bool // URIs for which the server has said yes
	conn         *connection
	served       *connection   // that of the latest call
	opened       time.Time     // when conn was opened
	pending      chan struct{} // closed when the attempt in progress has ended; nil: there is none
	err          error         // the reason why there is no connection
	failed       time.Time     // time of the latest failed attempt
	failures     int           // in a row
	again        *time.Timer   // the next attempt in the background; nil: there is none
	offer        Offer
	known        bool // offer is valid, from the upstream or from the cache
	exact        bool // the offer is one for these capabilities
}

// New returns a server that is not connected. Its offer is that of the last start, if that is known.
func New(c Config, o Options) *Server {
	s := &Server{config: c, opening: c, options: o, watched: watched{}, subscribed: map[string]bool{}}
	s.life, s.end = context.WithCancel(context.Background())
	s.changes.list = func(ctx context.Context, conn *connection) { _ = s.refresh(ctx, conn) } // on an error the previous offer stays
	if c.Problem != "" {
		s.err = errors.New("its entry in the configuration cannot be used: " + c.Problem)
		return s
	}
	s.offer, s.known = recall(c, nil)
	s.exact = s.known
	return s
}

// Belong makes a client the only one of a server that is not connected yet. Its capabilities are declared to the server,
// and what the server sends outside of a call goes to it.
func (s *Server) Belong(owner Caller) {
	capabilities := passable(owner.Capabilities())
	s.mu.Lock()
	defer s.mu.Unlock()
	s.owner, s.capabilities = owner, capabilities
	if s.config.Problem != "" {
		return
	}
	if o, known := recall(s.config, capabilities); known {
		s.offer, s.known, s.exact = o, true, true
	} else {
		s.exact = false // other clients' capabilities may have made another list
	}
}

// passable returns those of a client's capabilities that the gateway can serve, in one spelling.
func passable(declared json.RawMessage) json.RawMessage {
	var all map[string]any
	_ = json.Unmarshal(declared, &all) // none: nothing is declared
	kept := map[string]any{}
	for _, name := range []string{"roots", "sampling", "elicitation", "tasks", "extensions"} {
		if value, ok := all[name]; ok {
			kept[name] = value
		}
	}
	raw, err := json.Marshal(kept)
	if err != nil { // values that were decoded from JSON
		return json.RawMessage("{}")
	}
	return raw
}

// Name returns the server's name in the configuration.
func (s *Server) Name() string { return s.config.Name }

// Config returns the server's entry in the configuration.
func (s *Server) Config() Config { return s.config }

// Stateless reports whether all clients may share the connection.
func (s *Server) Stateless() bool { return s.config.Stateless && !s.config.PerSubject() }

// secret returns the entry whose values are secrets.
func (s *Server) secret() Config {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.opening
}

// Compare asks the server for its lists again if another connection to it was offered something else.
func (s *Server) Compare(other Offer) {
	s.mu.Lock()
	conn, same := s.conn, bytes.Equal(s.offer.raw, other.raw)
	s.mu.Unlock()
	if conn != nil && !same {
		s.changes.announce(s.life, conn)
	}
}

// Connect returns when the server is connected, or the reason why it is not.
func (s *Server) Connect(ctx context.Context) error {
	_, err := s.connect(ctx)
	return err
}

var errEnding = errors.New("the gateway is ending")

// connect returns the connection and opens one if necessary. Only one attempt runs at a time, and all
// callers wait for it. After a failure calls make no other attempt for a second.
func (s *Server) connect(ctx context.Context) (*connection, error) {
	for {
		s.mu.Lock()
		switch {
		case s.life.Err() != nil:
			s.mu.Unlock()
			return nil, errEnding
		case s.config.Problem != "":
			defer s.mu.Unlock()
			return nil, s.err
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
		err = redacted(err, s.secret())
	}
	s.mu.Lock()
	s.conn, s.err, s.pending = nil, err, nil
	if err == nil {
		s.conn, s.opened = conn, time.Now()
	} else {
		s.failed = time.Now()
		s.retry()
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

// retry plans an attempt in the background, after a pause that grows with each failure. s.mu is locked.
func (s *Server) retry() {
	s.failures++
	if !s.options.Persistent || s.life.Err() != nil {
		return
	}
	if s.again != nil {
		s.again.Stop()
	}
	s.again = time.AfterFunc(pause(s.failures), func() { _ = s.Connect(s.life) })
}

// pause returns the time between a number of failures in a row and the next attempt in the background.
func pause(failures int) time.Duration {
	if failures > 9 {
		return retryAtMost
	}
	return min(retryAfter<<max(failures-1, 0), retryAtMost)
}

// open starts or connects to the server.
func (s *Server) open(ctx context.Context) (*connection, error) {
	config, err := s.config.forSubject(s.options.Token)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	s.opening = config
	s.mu.Unlock()
	l, err := dial(config, s.options.Env, sparing(func(line string) { s.options.Stderr(s.config.Name, withoutSecrets(line, config)) }, time.Now))
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	owner, capabilities := s.owner, s.capabilities
	s.mu.Unlock()
	conn := &connection{link: l, owner: owner, calls: map[string]*pendingCall{}, gone: make(chan struct{})}
	return conn, open(ctx, conn, s.options.Version, capabilities, func(n mcp.JSONRPCNotification) { s.notified(conn, n) })
}

// watch waits for the end of a connection. The next call, or an attempt in the background, opens a new one.
func (s *Server) watch(conn *connection) {
	s.restore(conn)
	<-conn.gone
	s.mu.Lock()
	lost := s.conn == conn
	if lost {
		s.conn, s.err = nil, nil
		if time.Since(s.opened) > steadyAfter {
			s.failures = 0
		}
		s.retry()
	}
	s.mu.Unlock()
	conn.close()
	if lost && s.life.Err() == nil {
		s.options.Note("gateway.upstream_lost", map[string]any{"upstream": s.config.Name})
	}
}

// refresh requests the server's lists.
func (s *Server) refresh(ctx context.Context, conn *connection) error {
	ctx, cancel := context.WithTimeout(ctx, listWithin)
	defer cancel()
	said, problems, err := conn.ask(ctx)
	if err != nil {
		return err
	}
	o, err := said.offer(s.config.Name)
	if err != nil {
		return err
	}
	o.Problems = append(problems, o.Problems...)
	s.take(o)
	return nil
}

// take makes the server's latest answer its offer, and saves it for the next start.
func (s *Server) take(o Offer) {
	s.mu.Lock()
	before, known, capabilities := s.offer, s.known, s.capabilities
	s.offer, s.known, s.exact = o, true, true
	s.mu.Unlock()
	if same := known && bytes.Equal(o.raw, before.raw); !same {
		for _, p := range o.Problems {
			s.options.Note("gateway.upstream_tool_skipped", map[string]any{"upstream": s.config.Name, "message": p})
		}
		if s.options.Persistent { // what is offered to one client, or with one subject's token, is no other's
			store(s.config, capabilities, o.raw)
		}
	} else if !before.stored {
		return
	}
	s.options.Changed(before, o) // an answer that is the same as the stored one changes what its hints count for
}

// notified handles an upstream's notification.
func (s *Server) notified(conn *connection, n mcp.JSONRPCNotification) {
	fields := n.Params.AdditionalFields
	switch n.Method {
	case "notifications/tools/list_changed", "notifications/resources/list_changed", "notifications/prompts/list_changed":
		s.changes.announce(s.life, conn)
	case "notifications/progress":
		conn.progress(fields)
	case "notifications/message":
		conn.log(fields)
	case "notifications/cancelled":
		conn.cancelled(fields)
	case "notifications/resources/updated":
		uri, _ := fields["uri"].(string)
		s.updated(uri)
	case "notifications/tasks/status", "notifications/elicitation/complete":
		if caller := conn.latest(); caller != nil {
			caller.Notify(n.Method, fields)
		}
	}
}

// Call sends a tools/call and returns the upstream's answer unchanged. Errors of the upstream are of type tools.Error.
// caller, which may be nil, receives what the upstream sends during the call; meta is the call's _meta, extra its other
// params.
func (s *Server) Call(ctx context.Context, tool string, arguments, meta, extra map[string]any, caller Caller) (Answer, error) {
	params := map[string]any{"name": tool, "arguments": arguments}
	maps.Copy(params, extra)
	result, conn, err := s.send(ctx, "tools/call", params, meta, caller)
	switch {
	case ctx.Err() != nil:
		return Answer{}, ctx.Err()
	case err != nil:
		return Answer{}, unavailable(s.secret(), err)
	case result.Error != nil:
		return Answer{}, refused(s.secret(), result)
	}
	note := ""
	if s.renewed(conn) {
		note = "[the MCP server " + s.config.Name + " was started anew since your last call: what it kept in memory is lost]"
	}
	return passed(s.secret(), result.Result, note)
}

// renewed reports whether a call is the first one on a connection that took the place of another one with calls.
func (s *Server) renewed(conn *connection) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.served
	s.served = conn
	return before != conn && (before != nil || s.options.Resumed) && !s.config.Stateless
}

// Request sends another request and returns the upstream's result or error unchanged. meta is the request's _meta.
func (s *Server) Request(ctx context.Context, method string, params, meta map[string]any, caller Caller) (json.RawMessage, *tools.RPCError) {
	answer, _, err := s.send(ctx, method, params, meta, caller)
	switch {
	case ctx.Err() != nil:
		return nil, &tools.RPCError{Code: mcp.INTERNAL_ERROR, Message: "cancelled"}
	case err != nil:
		return nil, &tools.RPCError{Code: mcp.INTERNAL_ERROR, Message: unavailable(s.secret(), err).Message}
	case answer.Error != nil:
		return nil, refused(s.secret(), answer).Opaque.RPC
	}
	return answer.Result, nil
}

// send sends a client's request. If the server no longer knows the session, as after a restart, it is sent once more.
func (s *Server) send(ctx context.Context, method string, params, meta map[string]any, caller Caller) (*transport.JSONRPCResponse, *connection, error) {
	for again := false; ; again = true {
		conn, err := s.connect(ctx)
		if err != nil {
			return nil, nil, err
		}
		s.verbose(ctx, conn, caller)
		answer, err := conn.passOn(ctx, method, params, meta, caller)
		if again || !forgotten(answer, err) {
			return answer, conn, err
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

// Exact reports whether the known offer is one for the declared capabilities.
func (s *Server) Exact() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.known && s.exact
}

// Unconfirmed reports whether the known offer is that of an earlier start, with hints that count only when the server has
// answered.
func (s *Server) Unconfirmed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.offer.stored && slices.ContainsFunc(s.offer.Tools, func(d upstream.Definition) bool { return d.Trusted() })
}

// maxTelling is the number of clients' notifications that are sent at a time. A server over HTTP may take long over each.
const maxTelling = 16

// Tell sends a client's notification to the server if it is connected, and has taken most of the earlier ones. Progress is sent
// only to a server that waits for it.
func (s *Server) Tell(method string, params map[string]any) {
	s.mu.Lock()
	conn := s.conn
	s.mu.Unlock()
	if conn == nil { // a server that was gone asks again after it reconnects
		return
	}
	if s.telling.Add(1) > maxTelling {
		s.telling.Add(-1)
		return
	}
	go func() {
		defer s.telling.Add(-1)
		ctx, cancel := context.WithTimeout(s.life, listWithin)
		defer cancel()
		if method == "notifications/progress" {
			conn.progressed(ctx, params)
		} else {
			_ = conn.notify(ctx, method, params)
		}
	}()
}

// Close ends the server, including an attempt to connect to it.
func (s *Server) Close() {
	s.end()
	s.mu.Lock()
	pending := s.pending
	if s.again != nil {
		s.again.Stop()
	}
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
