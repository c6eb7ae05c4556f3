package httpserver

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/mcp/mcpserver"
)

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
