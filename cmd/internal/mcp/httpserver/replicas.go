package httpserver

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/mcp/mcpserver"
)

// The topics of notifications that concern another replica than the one that got them.
const (
	cancelTopic = "cancel" // of a call that it runs
	rootsTopic  = "roots"  // of a client whose connections to servers it has
	endTopic    = "end"    // of a session
)

// remote is such a notification. It names the session by a hash: its id would admit whoever reads it.
type remote struct {
	Session string          `json:"session"`
	Subject string          `json:"subject"`
	Params  json.RawMessage `json:"params"`
}

func sessionHash(id string) string {
	sum := sha256.Sum256([]byte("session\x00" + id))
	return base64.RawStdEncoding.EncodeToString(sum[:])
}

// pass passes a notification on to the replica that it concerns, before it is acknowledged. A call that no replica runs has
// ended. here means that it concerned this one.
func (h *Handler) pass(ctx context.Context, id, subject string, m mcpserver.Message, here bool) {
	var topic string
	switch {
	case here:
		return
	case m.Cancels():
		topic = cancelTopic
	case m.Method == mcpserver.RootsChanged:
		topic = rootsTopic
	default:
		return
	}
	h.announce(ctx, topic, id, subject, m.Params)
}

// announce tells the other replicas something about a session.
func (h *Handler) announce(ctx context.Context, topic, id, subject string, params json.RawMessage) {
	if h.config.Replicas == nil || id == "" {
		return
	}
	payload, err := json.Marshal(remote{sessionHash(id), subject, params})
	if err != nil {
		return
	}
	_, _ = h.config.Replicas.Announce(ctx, topic, payload) // a wish: without the database a call ends by itself
}

// hear acts on what other replicas were told, until ctx ends.
func (h *Handler) hear(ctx context.Context) {
	h.config.Replicas.Hear(ctx, func(topic string, payload []byte) bool {
		var n remote
		if json.Unmarshal(payload, &n) != nil {
			return false
		}
		id, session := h.sessions.hashed(n.Session)
		if session == nil || !session.Claim(n.Subject) {
			return false
		}
		switch topic {
		case cancelTopic:
			return session.Cancel(n.Params)
		case endTopic:
			h.sessions.end(id)
			h.config.Server.End(session)
			return true
		case rootsTopic:
			return h.config.Server.Notified(session, mcpserver.RootsChanged, n.Params)
		}
		return false
	})
}

// hashed returns the session of this process with the hash of an id, and the id; nil: there is none.
func (s *sessions) hashed(hash string) (id string, session *mcpserver.Session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, e := range s.byID {
		if sessionHash(id) == hash {
			return id, e.Value.(*remembered).session
		}
	}
	return "", nil
}
