package states

import (
	"crypto/rand"
	"encoding/hex"
	"slices"
	"sync"

	"github.com/mcp-pruner/mcp-pruner/pruneclient"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/history"
	"github.com/mcp-pruner/mcp-pruner/tools"
)

// remembered bounds the number of pruned calls that a session remembers.
const remembered = 256

// Session is what the server remembers about one client: the calls whose output was pruned,
// so that a repeated call can return the whole output, and recent questions and results,
// which tell a pruner what the agent is looking for.
type Session struct {
	mu     sync.Mutex
	pruned []asked
	log    history.Log

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

// asked is the tool and the subject of a call.
type asked struct {
	tool    string
	subject tools.Subject
}

// again reports whether the call asks for something whose output was pruned before.
func (s *Session) again(call asked) bool {
	if s == nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.ContainsFunc(s.pruned, func(earlier asked) bool {
		return call.tool == earlier.tool && call.subject.Again(earlier.subject)
	})
}

// remember returns the earlier calls of the session, most recent first, and adds the call
// with its result.
func (s *Session) remember(c *Execution) []pruneclient.Event {
	if s == nil {
		return nil
	}
	call, question := history.ParseCall(c.toolName, c.arguments), c.call.FocusQuestion()
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.log.Context()
	s.log.Served(call, question, c.output.Code())
	return before
}

func (s *Session) rememberPruned(call asked) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.pruned) == remembered {
		s.pruned = append(s.pruned[:0], s.pruned[1:]...)
	}
	s.pruned = append(s.pruned, call)
}
