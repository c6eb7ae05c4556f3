package states

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"sync"

	"github.com/mcp-pruner/mcp-pruner/pruneclient"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/history"
	"github.com/mcp-pruner/mcp-pruner/tools"
)

// remembered bounds the number of originals whose subjects a session remembers.
const remembered = 256

// Session is the server's memory of one client: recent questions and results, which tell a pruner what the agent is looking for,
// and whose output was cut, so that the same call again returns the whole.
type Session struct {
	mu  sync.Mutex
	log history.Log

	introduced sync.Once
	id         string
	key        [16]byte // key for the pseudonyms of subjects in records; it never leaves the process

	originals map[string]string // subjects of pruned calls, by prune id
	ids       []string          // prune ids, oldest first
}

// ID returns the session's id for records. It is random and has no meaning elsewhere.
func (s *Session) ID() string {
	if s == nil {
		return ""
	}
	s.introduce()
	return s.id
}

func (s *Session) introduce() {
	s.introduced.Do(func() {
		var id [8]byte
		_, _ = rand.Read(id[:]) // documented never to fail
		_, _ = rand.Read(s.key[:])
		s.id = "ses_" + hex.EncodeToString(id[:])
	})
}

// again reports whether the call asks for what was cut of the same call's output before.
func (s *Session) again(call history.ToolCall) bool {
	if s == nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log.Again(call)
}

func (s *Session) rememberCut(call history.ToolCall) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.log.Cut(call)
}

// remember returns the earlier calls of the session, most recent first, and adds the call
// with its result.
func (s *Session) remember(call history.ToolCall, question, output string) []pruneclient.Event {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.log.Context()
	s.log.Served(call, question, output)
	return before
}

// subject returns the pseudonym of a call's subject. A call that recovers pruned output has
// the subject of the pruned call; pruneID is the id by which this call's output can be
// recovered, or "".
func (s *Session) subject(client, tool string, about tools.Subject, pruneID string) string {
	s.mu.Lock()
	subject, known := s.originals[about.PruneID]
	s.mu.Unlock()
	if known {
		return subject
	}
	subject = s.pseudonym(client, tool, about)
	if pruneID != "" {
		s.keepOriginal(pruneID, subject)
	}
	return subject
}

// keepOriginal remembers the subject of the original with a prune id.
func (s *Session) keepOriginal(id, subject string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.originals == nil {
		s.originals = make(map[string]string)
	}
	if len(s.ids) == remembered {
		delete(s.originals, s.ids[0])
		s.ids = append(s.ids[:0], s.ids[1:]...)
	}
	s.ids = append(s.ids, id)
	s.originals[id] = subject
}

// pseudonym returns a name for a subject that means something within this session only,
// because the key never leaves the process. The range of the subject is ignored.
func (s *Session) pseudonym(client, tool string, about tools.Subject) string {
	s.introduce()
	text := append(make([]byte, 0, 256), s.key[:]...)
	for _, part := range []string{client, tool, about.Path, about.Dir, about.Command, about.Pattern, about.PruneID, about.Options} {
		text = append(append(text, part...), 0)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}
