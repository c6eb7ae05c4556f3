package mcpserver

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"mcp-pruner/states"
)

// progressEvery is how often a long call says that it is still at work.
const progressEvery = 5 * time.Second

// Session is what the server knows of one client.
type Session struct {
	// Notify sends a notification line to the client; nil: there is no way to.
	Notify func(line []byte)

	repeats states.Session
	alone   bool // of one message only: there is nothing to remember

	mu     sync.Mutex
	name   string // clientInfo.name
	opened bool   // by an initialize that was in order
	flying map[string]*flight
	share  chan struct{} // a slot for each of its calls at work
}

// flight is a call under way.
type flight struct{ cancel context.CancelFunc }

// NewSession makes the session of a client that gave its name elsewhere; "" when
// it gave none.
func NewSession(client string) *Session { return &Session{name: client} }

// Alone makes the session of a message that belongs to none.
func Alone() *Session { return &Session{alone: true} }

// states is what requests remember of each other; nil when they stand alone.
func (s *Session) states() *states.Session {
	if s.alone {
		return nil
	}
	return &s.repeats
}

// Client is the name the client gave itself.
func (s *Session) Client() string { return s.client(nil) }

// slots are those of the session's own calls, nil when there is no limit to them.
func (s *Session) slots(limit int) chan struct{} {
	if limit == 0 || s.alone {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.share == nil {
		s.share = make(chan struct{}, limit)
	}
	return s.share
}

// introduce remembers what initialize said of the client.
func (s *Session) introduce(params map[string]any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.opened = true
	if name, ok := at(params, "clientInfo", "name").(string); ok {
		s.name = name
	}
}

// Opened says whether the client initialized the session.
func (s *Session) Opened() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.opened
}

// client is the name of the client that sent these params: newer clients say it
// with every request, older ones once.
func (s *Session) client(params any) string {
	if name, ok := at(params, "_meta", clientInfoKey, "name").(string); ok {
		return name
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.name
}

// Start makes the context of a call so that a later notifications/cancelled can
// end it. It is called where messages are read, in their order, so that a cancel
// right behind its call finds it. Of two calls with one id the later is found.
func (s *Session) Start(ctx context.Context, m Message) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	f, key := &flight{cancel}, idKey(m.ID)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.flying == nil {
		s.flying = make(map[string]*flight)
	}
	s.flying[key] = f
	return ctx, func() {
		cancel()
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.flying[key] == f {
			delete(s.flying, key)
		}
	}
}

// notified takes a notification; all but cancellations are of no interest.
func (s *Session) notified(m Message) {
	if m.Method != "notifications/cancelled" {
		return
	}
	var params map[string]json.RawMessage
	if json.Unmarshal(m.Params, &params) != nil || len(params["requestId"]) == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if f := s.flying[idKey(params["requestId"])]; f != nil {
		f.cancel()
	}
}

// progress tells the client every few seconds that a call is still at work, if
// it gave a token to say so with. The returned func ends it and waits.
func (s *Session) progress(notify func(line []byte), token any) (stop func()) {
	if notify == nil {
		notify = s.Notify
	}
	if token == nil || notify == nil {
		return func() {}
	}
	ended, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		ticker := time.NewTicker(progressEvery)
		defer ticker.Stop()
		for passed := progressEvery; ; passed += progressEvery {
			select {
			case <-ended:
				return
			case <-ticker.C:
				notify(progressLine(token, passed))
			}
		}
	}()
	return func() {
		close(ended)
		<-gone
	}
}

// progressLine counts progress in seconds.
func progressLine(token any, passed time.Duration) []byte {
	line, err := json.Marshal(map[string]any{
		"jsonrpc": "2.0",
		"method":  "notifications/progress",
		"params":  map[string]any{"progressToken": token, "progress": int(passed.Seconds())},
	})
	if err != nil { // a token that came as JSON goes out as JSON
		return nil
	}
	return append(line, '\n')
}
