package httpserver

import (
	"container/list"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"strings"
	"sync"
	"time"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/mcp/mcpserver"
)

const (
	maxSessions  = 1024
	maxIdle      = time.Hour
	keyBytes     = 16
	maxNameBytes = 128 // of a client's name within an id
)

// sessions is the server's memory of its clients. It is limited in size and may be lost at any time, for
// example by a restart, without effect on clients: a session id contains the client's name, the only thing
// that later answers depend on, and an unknown session starts anew under its old id. Lost are only the
// calls in progress and the record of pruned calls.
type sessions struct {
	mu    sync.Mutex
	byID  map[string]*list.Element
	order *list.List // of remembered, most recently used first
	now   func() time.Time
	seal  *sealer // nil: ids are those of one process
}

type remembered struct {
	id      string
	session *mcpserver.Session
	used    time.Time
}

func newSessions() *sessions {
	return &sessions{byID: make(map[string]*list.Element), order: list.New(), now: time.Now}
}

// add stores a session and returns its id.
func (s *sessions) add(session *mcpserver.Session, subject string) string {
	var key [keyBytes]byte
	_, _ = rand.Read(key[:]) // never fails, according to its documentation
	name := session.Client()
	id := hex.EncodeToString(key[:]) + "." + base64.RawURLEncoding.EncodeToString([]byte(name[:min(len(name), maxNameBytes)]))
	id = s.seal.seal(id, subject)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keep(id, session)
	return id
}

// find returns the session of an id. It fails for an id that this server cannot have issued to a subject, nor another
// replica.
func (s *sessions) find(id, subject string) (*mcpserver.Session, bool) {
	if session := s.here(id); session != nil {
		return session, true
	}
	if !s.seal.opens(id, subject) { // may ask the database
		return nil, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if e, ok := s.byID[id]; ok { // since a moment
		return e.Value.(*remembered).session, true
	}
	name, ok := clientOf(id)
	if !ok {
		return nil, false
	}
	session := mcpserver.NewSession(name)
	s.keep(id, session)
	return session, true
}

// here returns the session of an id that this process remembers; nil: it remembers none.
func (s *sessions) here(id string) *mcpserver.Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, ok := s.byID[id]
	if !ok {
		return nil
	}
	known := e.Value.(*remembered)
	known.used = s.now()
	s.order.MoveToFront(e)
	return known.session
}

// keep stores a session and drops sessions that were idle for too long or are too many. A session with a
// call in progress is never dropped.
func (s *sessions) keep(id string, session *mcpserver.Session) {
	now := s.now()
	s.byID[id] = s.order.PushFront(&remembered{id, session, now})
	for oldest := s.order.Back(); oldest != nil; {
		old, next := oldest.Value.(*remembered), oldest.Prev()
		if s.order.Len() <= maxSessions && now.Sub(old.used) < maxIdle {
			return
		}
		if !old.session.Busy() {
			s.order.Remove(oldest)
			delete(s.byID, old.id)
		}
		oldest = next
	}
}

// clientOf extracts the client's name from an id.
func clientOf(id string) (name string, ok bool) {
	key, encoded, found := strings.Cut(id, ".")
	encoded, _, _ = strings.Cut(encoded, ".") // the authentication was checked
	if raw, err := hex.DecodeString(key); !found || err != nil || len(raw) != keyBytes {
		return "", false
	}
	raw, err := base64.RawURLEncoding.DecodeString(encoded)
	return string(raw), err == nil && len(raw) <= maxNameBytes
}
