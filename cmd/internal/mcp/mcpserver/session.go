package mcpserver

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/mcp-pruner/mcp-pruner/states"
)

// progressEvery is the interval of progress notifications of a long call.
const progressEvery = 5 * time.Second

// Session is the server's state for one client.
type Session struct {
	// Notify sends a line to the client; nil: there is no channel to it.
	Notify func(line []byte)

	repeats  states.Session
	alone    bool // the session of a single message: nothing is remembered
	conn     any  // of a message alone: the connection that it came on, comparable; nil: not known
	origin   any  // of a message alone: who sent it, as far as the transport knows, comparable
	unsorted bool // messages may arrive out of order: a cancellation may precede its call

	mu           sync.Mutex
	subject      *string // whose key the client uses; nil: there are no keys
	level        string  // the least of the log messages that the client wants; "": not set
	name         string  // clientInfo.name
	opened       bool    // a valid initialize was received
	capabilities json.RawMessage
	flying       map[string]*flight
	over         recent // ids of calls that have ended
	cancelled    recent // ids whose cancellation arrived before their call
	asked        int
	asking       map[string]chan<- Message // pending requests to the client, by id
	streams      []*stream                 // that the client listens on outside of requests, the latest last
	begun        chan struct{}             // closed when the client is initialized; nil: nobody has asked
	ready        bool                      // the client is initialized
}

// stream is a way to a client outside of requests.
type stream struct{ notify func(line []byte) }

// Attach makes the session's client reachable outside of requests until the returned function is called.
func (s *Session) Attach(notify func(line []byte)) (detach func()) {
	way := &stream{notify}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.streams = append(s.streams, way)
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.streams = slices.DeleteFunc(s.streams, func(other *stream) bool { return other == way })
	}
}

// Claim gives the session to the owner of the key that its client uses. It returns false if it is somebody else's.
func (s *Session) Claim(owner string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.subject == nil {
		s.subject = &owner
	}
	return *s.subject == owner
}

// reachable reports whether the client can be sent something outside of a request.
func (s *Session) reachable() bool {
	if s.Notify != nil {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.streams) > 0
}

// send sends a line to the client outside of a request, if that is possible.
func (s *Session) send(line []byte) {
	if s.Notify != nil {
		s.Notify(line)
		return
	}
	s.mu.Lock()
	var way *stream
	if len(s.streams) > 0 {
		way = s.streams[len(s.streams)-1]
	}
	s.mu.Unlock()
	if way != nil {
		way.notify(line)
	}
}

// readyWithin is the time for which a server's request waits for the client to be initialized.
const readyWithin = 20 * time.Second

// initialized waits until the client is initialized and reports whether it is.
func (s *Session) initialized(ctx context.Context) bool {
	s.mu.Lock()
	if s.ready {
		s.mu.Unlock()
		return true
	}
	if s.begun == nil {
		s.begun = make(chan struct{})
	}
	begun := s.begun
	s.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, readyWithin)
	defer cancel()
	select {
	case <-begun:
		return true
	case <-ctx.Done():
		return false
	}
}

// begin notes that the client is initialized.
func (s *Session) begin() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.ready && s.begun != nil {
		close(s.begun)
	}
	s.ready = true
}

// flight is a call in progress.
type flight struct{ cancel context.CancelFunc }

// NewSession returns a session for a client whose messages may arrive out of order and whose name is
// already known; "" means no name.
func NewSession(client string) *Session {
	return &Session{name: shortName(client), unsorted: true}
}

// Alone returns a session for a message that belongs to none.
func Alone() *Session { return &Session{alone: true} }

// AloneOn is Alone for a message that came on a connection. Calls without a session count by their connections when
// they take slots, so that many agents of one name do not wait for each other. Those of one origin share what a server
// holds for them.
func AloneOn(conn, origin any) *Session { return &Session{alone: true, conn: conn, origin: origin} }

// IsAlone reports whether the session is that of a single message.
func (s *Session) IsAlone() bool { return s.alone }

// cancelAll cancels the calls of a session that its client has ended.
func (s *Session) cancelAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.flying {
		f.cancel()
	}
}

// Busy reports whether a call of the session is in progress, or its client listens.
func (s *Session) Busy() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.flying) > 0 || len(s.streams) > 0
}

// states returns the memory that the session's requests share, or nil for a single message.
func (s *Session) states() *states.Session {
	if s.alone {
		return nil
	}
	return &s.repeats
}

// Client returns the client's name.
func (s *Session) Client() string { return s.client(params{}) }

// key returns the key under which a call takes slots: the session, or the connection of a call without a session; the
// client's name if the connection is not known.
func (s *Session) key(client string) any {
	switch {
	case !s.alone:
		return s
	case s.conn != nil:
		return s.conn
	}
	return client
}

// byName is the group of the calls of a subject, whatever its clients are called.
type byName string

// group returns what a call counts for when slots are shared fairly: its subject, or the client's name.
func (s *Session) group(client string) any {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.subject != nil && *s.subject != "" {
		return byName(*s.subject)
	}
	return client
}

// introduce records the client's name and capabilities from initialize.
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

// maxCapabilities is the largest size in bytes of a client's capabilities that are kept.
const maxCapabilities = 16 << 10

// Opened reports whether the client initialized the session.
func (s *Session) Opened() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.opened
}

// client returns the name of the client that sent these params. Newer clients send it with every request,
// older ones once.
func (s *Session) client(p params) string {
	if name, said := p.client(); said {
		return name
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.name
}

// Start returns a context for a call that a notifications/cancelled ends, even one that arrived before its
// call. Of two calls with the same id, the cancellation ends the later one.
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

// notified handles a notification: the end of the handshake, or a cancellation.
func (s *Session) notified(m Message) {
	if m.Method == "notifications/initialized" {
		s.begin()
	}
	if m.Method != "notifications/cancelled" {
		return
	}
	key, ok := cancelled(m.Params)
	if !ok {
		return
	}
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

// cancelled returns the key of the request that a cancellation names.
func cancelled(params json.RawMessage) (key string, ok bool) {
	var fields map[string]json.RawMessage
	if json.Unmarshal(params, &fields) != nil || len(fields["requestId"]) == 0 {
		return "", false
	}
	return idKey(fields["requestId"]), true
}

// Cancel ends the call that the parameters of a cancellation name. It reports whether the call is in progress here.
func (s *Session) Cancel(params json.RawMessage) bool {
	key, ok := cancelled(params)
	if !ok {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.flying[key]
	if f != nil {
		f.cancel()
	}
	return f != nil
}

// Knows reports whether the call that a cancellation names is in progress here or has ended here.
func (s *Session) Knows(m Message) bool {
	key, ok := cancelled(m.Params)
	if !ok {
		return true // it names none
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.flying[key] != nil || s.over.has(key, time.Now())
}

// expect reserves an id for a request to the client and returns the channel of its answer.
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

// Answered delivers the client's answer to a request of this server. It reports whether the request waits here.
func (s *Session) Answered(m Message) bool {
	if m.ID == nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.asking[idKey(m.ID)]
	if c != nil {
		delete(s.asking, idKey(m.ID))
		c <- m
	}
	return c != nil
}

// recent remembers a limited number of ids for a limited time.
type recent struct{ ids []timed }

type timed struct {
	id string
	at time.Time
}

const (
	maxRecent     = 256
	maxRecentID   = 256 // bytes; longer ids are not remembered
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

// take removes an id and reports whether it was present.
func (r *recent) take(id string, now time.Time) bool {
	i := r.find(id, now)
	if i >= 0 {
		r.ids = slices.Delete(r.ids, i, i+1)
	}
	return i >= 0
}

// progress notifies the client at intervals that a call is still in progress, if the client gave a token.
// The returned function stops this and waits for the goroutine.
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

// progressLine returns a progress notification with the elapsed seconds as its progress.
func progressLine(token any, passed time.Duration) []byte {
	line, err := json.Marshal(map[string]any{
		"jsonrpc": "2.0",
		"method":  "notifications/progress",
		"params":  map[string]any{"progressToken": token, "progress": int(passed.Seconds())},
	})
	if err != nil { // a token that was decoded from JSON can be encoded
		return nil
	}
	return append(line, '\n')
}
