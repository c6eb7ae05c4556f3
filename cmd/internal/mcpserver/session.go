package mcpserver

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"sync"
	"time"

	"mcp-pruner/states"
)

// progressEvery is how often a long call says that it is still at work.
const progressEvery = 5 * time.Second

// Session is what the server knows of one client.
type Session struct {
	// Notify sends a line to the client; nil: there is no way to.
	Notify func(line []byte)

	repeats  states.Session
	alone    bool // of one message only: there is nothing to remember
	unsorted bool // messages may overtake each other: a cancel may come before its call

	mu           sync.Mutex
	name         string // clientInfo.name
	opened       bool   // by an initialize that was in order
	capabilities json.RawMessage
	flying       map[string]*flight
	over         recent // ids of calls that have ended
	cancelled    recent // ids that were cancelled before their call came
	asked        int
	asking       map[string]chan<- Message // requests to the client, by id
}

// flight is a call under way.
type flight struct{ cancel context.CancelFunc }

// NewSession makes the session of a client whose messages may overtake each other,
// and that gave its name elsewhere; "" when it gave none.
func NewSession(client string) *Session {
	return &Session{name: shortName(client), unsorted: true}
}

// Alone makes the session of a message that belongs to none.
func Alone() *Session { return &Session{alone: true} }

// IsAlone says whether the session is that of one message only.
func (s *Session) IsAlone() bool { return s.alone }

// Busy says whether a call of the session is under way.
func (s *Session) Busy() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.flying) > 0
}

// states is what requests remember of each other; nil when they stand alone.
func (s *Session) states() *states.Session {
	if s.alone {
		return nil
	}
	return &s.repeats
}

// Client is the name the client gave itself.
func (s *Session) Client() string { return s.client(params{}) }

// key is whose slots a call takes: the session's, or those of all who have none and
// the same name.
func (s *Session) key(client string) any {
	if s.alone {
		return client
	}
	return s
}

// introduce remembers what initialize said of the client.
func (s *Session) introduce(p params) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.opened = true
	info, _ := p.object["clientInfo"].(map[string]any)
	if name, ok := info["name"].(string); ok {
		s.name = shortName(name)
	}
	if said, ok := p.object["capabilities"]; ok {
		if raw := plain(said); len(raw) <= maxCapabilities {
			s.capabilities = raw
		}
	}
}

// maxCapabilities bounds what is kept of a client's capabilities, in bytes.
const maxCapabilities = 16 << 10

// Opened says whether the client initialized the session.
func (s *Session) Opened() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.opened
}

// client is the name of the client that sent these params: newer clients say it
// with every request, older ones once.
func (s *Session) client(p params) string {
	if name, said := p.client(); said {
		return name
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.name
}

// Start makes the context of a call so that a notifications/cancelled can end it: a
// later one, or one that overtook its call. Of two calls with one id the later is
// found.
func (s *Session) Start(ctx context.Context, m Message) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	f, key := &flight{cancel}, idKey(m.ID)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.flying == nil {
		s.flying = make(map[string]*flight)
	}
	s.flying[key] = f
	if s.unsorted && s.cancelled.take(key, time.Now()) {
		cancel()
	}
	return ctx, func() {
		cancel()
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.flying[key] == f {
			delete(s.flying, key)
		}
		if s.unsorted {
			s.over.add(key, time.Now())
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
	key := idKey(params["requestId"])
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.flying[key]
	switch {
	case f != nil:
		f.cancel()
	case s.unsorted && !s.over.has(key, time.Now()):
		s.cancelled.add(key, time.Now())
	}
}

// expect makes an id for a request to the client, and where its answer will come.
func (s *Session) expect() (id string, answers <-chan Message, done func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked++
	id = "srv-" + strconv.Itoa(s.asked)
	key, c := "s"+id, make(chan Message, 1)
	if s.asking == nil {
		s.asking = make(map[string]chan<- Message)
	}
	s.asking[key] = c
	return id, c, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.asking, key)
	}
}

// answered takes the client's answer to a request of ours.
func (s *Session) answered(m Message) {
	if m.ID == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.asking[idKey(m.ID)]; c != nil {
		delete(s.asking, idKey(m.ID))
		c <- m
	}
}

// recent remembers some ids for a while.
type recent struct{ ids []timed }

type timed struct {
	id string
	at time.Time
}

const (
	maxRecent     = 256
	maxRecentID   = 256 // bytes; a longer id is not remembered
	recentForgets = time.Minute
)

func (r *recent) add(id string, now time.Time) {
	if len(id) > maxRecentID {
		return
	}
	if len(r.ids) == maxRecent {
		r.ids = append(r.ids[:0], r.ids[1:]...)
	}
	r.ids = append(r.ids, timed{id, now})
}

func (r *recent) find(id string, now time.Time) int {
	return slices.IndexFunc(r.ids, func(t timed) bool { return t.id == id && now.Sub(t.at) < recentForgets })
}

func (r *recent) has(id string, now time.Time) bool { return r.find(id, now) >= 0 }

// take forgets an id and says whether it was there.
func (r *recent) take(id string, now time.Time) bool {
	i := r.find(id, now)
	if i >= 0 {
		r.ids = slices.Delete(r.ids, i, i+1)
	}
	return i >= 0
}

// progress tells the client every few seconds that a call is still at work, if
// it gave a token to say so with. The returned func ends it and waits.
func progress(notify func(line []byte), token any) (stop func()) {
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
