package httpserver

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/mcp/mcpserver"
)

// The topics of messages that concern another replica than the one that got them. After a space follows the hash of the session: its id
// would admit whoever reads it.
const (
	cancelTopic = "cancel" // of a call that it runs
	rootsTopic  = "roots"  // of a client whose connections to servers it has
	endTopic    = "end"    // of a session
	answerTopic = "answer" // of a client that it asked
)

// remote is such a message.
type remote struct {
	Subject string          `json:"subject"`
	Params  json.RawMessage `json:"params"` // or the whole answer
}

func sessionHash(id string) string {
	sum := sha256.Sum256([]byte("session\x00" + id))
	return base64.RawStdEncoding.EncodeToString(sum[:])
}

// nobodyAsked refuses an answer that no replica waits for, so that the client does not take it for delivered.
var nobodyAsked = &fault{http.StatusBadRequest, "nobody_asked", "nobody waits for this answer: its question has ended, or the replica that asked cannot be reached now"}

// pass passes a message on to the replica that it concerns, before it is acknowledged. A call that no replica runs has
// ended; an answer that none waits for is refused. here means that it concerned this one.
func (h *Handler) pass(ctx context.Context, id, subject string, m mcpserver.Message, here bool) *fault {
	topic, content := "", m.Params
	switch {
	case h.config.Replicas == nil || id == "" || here:
		return nil
	case m.Stray():
		topic, content = answerTopic, m.Response()
	case m.Cancels():
		topic = cancelTopic
	case m.Method == mcpserver.RootsChanged:
		topic = rootsTopic
	default:
		return nil
	}
	if heard := h.announce(ctx, topic, id, subject, content); m.Stray() && !heard {
		return nobodyAsked
	}
	return nil
}

// announce tells the other replicas something about a session, and reports whether one of them acted on it. It is a wish:
// without the database a call ends by itself.
func (h *Handler) announce(ctx context.Context, topic, id, subject string, content json.RawMessage) (heard bool) {
	if h.config.Replicas == nil || id == "" {
		return false
	}
	payload, err := json.Marshal(remote{subject, content})
	if err != nil {
		return false
	}
	heard, _ = h.config.Replicas.Announce(ctx, topic+" "+sessionHash(id), payload)
	return heard
}

// hear acts on what other replicas were told, until ctx ends.
func (h *Handler) hear(ctx context.Context) {
	h.config.Replicas.Hear(ctx, func(topic string) bool {
		_, hash, _ := strings.Cut(topic, " ")
		_, session := h.sessions.hashed(hash)
		return session != nil
	}, func(topic string, payload []byte) bool {
		var n remote
		topic, hash, _ := strings.Cut(topic, " ")
		id, session := h.sessions.hashed(hash)
		if json.Unmarshal(payload, &n) != nil || session == nil || !session.Claim(n.Subject) {
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
		case answerTopic:
			return session.Answered(mcpserver.Parse(n.Params))
		}
		return false
	})
}

// hashed returns the session of this process with the hash of an id, and the id; nil: there is none.
func (s *sessions) hashed(hash string) (id string, session *mcpserver.Session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, e := range s.byID {
		if one := e.Value.(*remembered); one.hash == hash {
			return id, one.session
		}
	}
	return "", nil
}
