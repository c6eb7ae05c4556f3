package httpserver

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"strings"
	"sync"
	"time"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/mcp/mcpserver"
)

// Replicas is what the processes behind one address have in common.
type Replicas interface {
	// Announce tells all of them something, and reports whether one could act on it.
	Announce(ctx context.Context, topic string, payload []byte) (heard bool, err error)
	// Hear calls act with what is announced, until ctx ends.
	Hear(ctx context.Context, act func(topic string, payload []byte) bool)
	// SharedKey returns a random key that all of them have.
	SharedKey(ctx context.Context, name string) ([]byte, error)
}

// cancelTopic is the topic of a cancel that reached another replica than its call.
const cancelTopic = "cancel"

// remoteCancel is such a cancel. It names the session by a hash: its id would admit whoever reads it.
type remoteCancel struct {
	Session string          `json:"session"`
	Subject string          `json:"subject"`
	Params  json.RawMessage `json:"params"`
}

func sessionHash(id string) string {
	sum := sha256.Sum256([]byte("session\x00" + id))
	return base64.RawStdEncoding.EncodeToString(sum[:])
}

// passCancel passes a cancel on to the replica that runs its call, before it is acknowledged. A call that no replica runs has
// ended.
func (h *Handler) passCancel(ctx context.Context, session *mcpserver.Session, id, subject string, m mcpserver.Message) {
	if h.config.Replicas == nil || id == "" || !m.Cancels() || session.Knows(m) {
		return
	}
	payload, err := json.Marshal(remoteCancel{sessionHash(id), subject, m.Params})
	if err != nil {
		return
	}
	_, _ = h.config.Replicas.Announce(ctx, cancelTopic, payload) // a cancel is a wish: without the database the call ends by itself
}

// hear ends calls that were cancelled at another replica, until ctx ends.
func (h *Handler) hear(ctx context.Context) {
	h.config.Replicas.Hear(ctx, func(topic string, payload []byte) bool {
		var c remoteCancel
		if topic != cancelTopic || json.Unmarshal(payload, &c) != nil {
			return false
		}
		session := h.sessions.hashed(c.Session)
		return session != nil && session.Claim(c.Subject) && session.Cancel(c.Params)
	})
}

// hashed returns the session of this process with the hash of an id; nil: there is none.
func (s *sessions) hashed(hash string) *mcpserver.Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, e := range s.byID {
		if sessionHash(id) == hash {
			return e.Value.(*remembered).session
		}
	}
	return nil
}

// keyName is the name of the key by which replicas authenticate the ids of sessions, and keyWithin how long it is waited for.
const (
	keyName   = "sessions"
	keyWithin = 2 * time.Second
	macBytes  = 16
)

// sealer authenticates the ids of sessions, so that a replica takes only those that another one has given out.
type sealer struct {
	replicas Replicas

	mu  sync.Mutex
	key []byte
}

// mac returns the authentication of an id for a subject, "" if the key cannot be had now.
func (s *sealer) mac(id, subject string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.key == nil {
		ctx, cancel := context.WithTimeout(context.Background(), keyWithin)
		defer cancel()
		key, err := s.replicas.SharedKey(ctx, keyName)
		if err != nil {
			return ""
		}
		s.key = key
	}
	hash := hmac.New(sha256.New, s.key)
	hash.Write([]byte(id + "\x00" + subject))
	return base64.RawURLEncoding.EncodeToString(hash.Sum(nil)[:macBytes])
}

// seal adds the authentication to a new id. Without the key there is none: the client begins anew at the next replica.
func (s *sealer) seal(id, subject string) string {
	if s == nil {
		return id
	}
	if mac := s.mac(id, subject); mac != "" {
		return id + "." + mac
	}
	return id
}

// opens reports whether an id was given out for a subject.
func (s *sealer) opens(id, subject string) bool {
	if s == nil {
		return true
	}
	at := strings.LastIndexByte(id, '.')
	if at < 0 {
		return false
	}
	want := s.mac(id[:at], subject)
	return want != "" && hmac.Equal([]byte(want), []byte(id[at+1:]))
}
