package httpserver

import (
	"container/list"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/mcp/mcpserver"
)

const (
	maxSessions     = 1024
	maxSessionsEach = maxSessions / 4 // of one subject
	maxIdle         = time.Hour

	keyBytes     = 16
	maxNameBytes = 128 // of a client's name within an id
)

// sessions is the server's memory of its clients. It is limited in size and may be lost at any time, for
// example by a restart, without effect on clients: a session id contains the client's name, the only thing
// that later answers depend on, and a session that is unknown starts anew under its old id. Lost are only the
// calls in progress and the record of pruned calls.
type sessions struct {
	mu    sync.Mutex
	byID  map[string]*list.Element
	order *list.List     // of remembered, most recently used first
	each  map[string]int // sessions of each subject
	now   func() time.Time
	seal  *sealer
	ended func(*mcpserver.Session) // is told of each session that was dropped; nil: nobody is
}

// Faults of an id of a session. A client answers the first one with initialize, and the second one by trying again.
var (
	sessionNotFound  = &fault{http.StatusNotFound, "session_not_found", "Mcp-Session-Id is none of this server's: initialize anew"}
	sessionUnchecked = &fault{http.StatusServiceUnavailable, "unavailable", "Mcp-Session-Id cannot be checked now: try again"}
)

type remembered struct {
	id      string
	hash    string
	subject string
	session *mcpserver.Session // nil: its client has ended it
	used    time.Time
}

func newSessions(seal *sealer) *sessions {
	return &sessions{byID: make(map[string]*list.Element), order: list.New(), each: map[string]int{}, now: time.Now, seal: seal}
}

// add stores a session and returns its id. It returns "" while an id cannot be authenticated: each message of the client then
// stands alone.
func (s *sessions) add(session *mcpserver.Session, subject string) string {
	var key [keyBytes]byte
	_, _ = rand.Read(key[:]) // never fails, according to its documentation
	name := session.Client()
	id := hex.EncodeToString(key[:]) + "." + base64.RawURLEncoding.EncodeToString([]byte(name[:min(len(name), maxNameBytes)]))
	id, err := s.seal.seal(id, subject)
	if err != nil {
		return ""
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keep(id, subject, session)
	return id
}

// find returns the session of an id. It refuses an id that neither this server nor another replica can have issued to a subject,
// and puts off the client while that cannot be told.
func (s *sessions) find(id, subject string) (*mcpserver.Session, *fault) {
	if session, ended := s.here(id); session != nil {
		return session, nil
	} else if ended {
		return nil, sessionNotFound
	}
	name, ok := clientOf(id)
	if !ok {
		return nil, sessionNotFound
	}
	switch ours, err := s.seal.opens(id, subject); { // may ask the database
	case err != nil:
		return nil, sessionUnchecked
	case !ours:
		return nil, sessionNotFound
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if e, ok := s.byID[id]; ok && e.Value.(*remembered).session != nil { // since a moment
		return e.Value.(*remembered).session, nil
	}
	session := mcpserver.NewSession(name)
	s.keep(id, subject, session)
	return session, nil
}

// here returns the session of an id that this process remembers; nil: it remembers none, or that it has ended.
func (s *sessions) here(id string) (session *mcpserver.Session, ended bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, ok := s.byID[id]
	if !ok {
		return nil, false
	}
	known := e.Value.(*remembered)
	known.used = s.now()
	s.order.MoveToFront(e)
	return known.session, known.session == nil
}

// end forgets a session and keeps its id, which names none from now on.
func (s *sessions) end(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e, ok := s.byID[id]; ok {
		e.Value.(*remembered).session = nil
	}
}

// keep stores a session and drops sessions that were idle for too long or are too many: of a subject with too many the oldest,
// and of all the oldest of the subject with most, so that nobody's sessions end for another one's. A session with a call in
// progress, or whose client listens, is never dropped.
func (s *sessions) keep(id, subject string, session *mcpserver.Session) {
	now := s.now()
	s.byID[id] = s.order.PushFront(&remembered{id, sessionHash(id), subject, session, now})
	s.each[subject]++
	s.drop(s.order.Len(), func(old *remembered) bool { return now.Sub(old.used) >= maxIdle })
	if subject != "" { // nobody is known by name without keys
		s.drop(s.each[subject]-maxSessionsEach, func(old *remembered) bool { return old.subject == subject })
	}
	if s.order.Len() > maxSessions {
		most := subject
		for other, count := range s.each {
			if count > s.each[most] {
				most = other
			}
		}
		s.drop(s.order.Len()-maxSessions, func(old *remembered) bool { return old.subject == most })
	}
}

// drop drops the oldest sessions that are meant, but never the newest of all.
func (s *sessions) drop(count int, meant func(*remembered) bool) {
	for e := s.order.Back(); e != s.order.Front() && count > 0; {
		old, next := e.Value.(*remembered), e.Prev()
		if meant(old) && (old.session == nil || !old.session.Busy()) {
			s.order.Remove(e)
			delete(s.byID, old.id)
			if s.each[old.subject]--; s.each[old.subject] == 0 {
				delete(s.each, old.subject)
			}
			if old.session != nil && s.ended != nil {
				s.ended(old.session)
			}
			count--
		}
		e = next
	}
}

// clientOf extracts the client's name from an id.
func clientOf(id string) (name string, ok bool) {
	key, encoded, found := strings.Cut(id, ".")
	encoded, _, _ = strings.Cut(encoded, ".") // the authentication follows
	if raw, err := hex.DecodeString(key); !found || err != nil || len(raw) != keyBytes {
		return "", false
	}
	raw, err := base64.RawURLEncoding.DecodeString(encoded)
	return string(raw), err == nil && len(raw) <= maxNameBytes
}
