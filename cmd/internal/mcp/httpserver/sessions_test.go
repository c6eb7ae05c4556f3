package httpserver

import (
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/mcp/mcpserver"
)

// The name that a client gave in initialize determines the form of every later answer.
func TestASessionRemembersItsClient(t *testing.T) {
	p := newPlace(t, nil)
	p.file("a.txt", "hello\n")
	read := call("read", map[string]any{"file_path": "a.txt"})
	assert.Nil(t, p.ask(read, p.open("claude-code")).Result.StructuredContent)
	assert.NotNil(t, p.ask(read, p.open("anybody")).Result.StructuredContent)
	assert.NotNil(t, p.ask(read).Result.StructuredContent, "a call without a session is served")
}

// A restarted server continues the sessions of the one before.
func TestASessionOutlivesItsServer(t *testing.T) {
	key := func(c *Config) { c.Key = func() []byte { return []byte("of this machine") } }
	before, after := newPlace(t, key), newPlace(t, key)
	after.file("a.txt", "hello\n")
	a := after.ask(call("read", map[string]any{"file_path": "a.txt"}), before.open("claude-code"))
	assert.Equal(t, "hello\n", a.text())
	assert.Nil(t, a.Result.StructuredContent)
	response, _ := newPlace(t, nil).post(message("ping", nil), before.open("claude-code"))
	assert.Equal(t, http.StatusNotFound, response.StatusCode, "at a server without the key")
}

// manySessions is the number of idle sessions that a large team may have.
const manySessions = 10_000

// TestManyIdleSessions: sessions that nobody uses cost no more memory than those that are remembered, and each goes on.
func TestManyIdleSessions(t *testing.T) {
	p := newPlace(t, nil)
	sessions := p.web.Config.Handler.(*Handler).sessions
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	var before uint64
	var ids []string
	for i := range manySessions {
		if i == maxSessions {
			before = heap()
		}
		ids = append(ids, "Mcp-Session-Id: "+sessions.add(mcpserver.NewSession("some-client"), ""))
	}
	assert.Less(t, heap(), before+2<<20)
	for _, id := range []string{ids[0], ids[manySessions-1]} {
		response, _ := p.post(message("ping", nil), id)
		assert.Equal(t, http.StatusOK, response.StatusCode)
	}
}

func TestARefusedInitializeOpensNothing(t *testing.T) {
	p := newPlace(t, nil)
	response, _ := p.post(message("initialize", map[string]any{"clientInfo": map[string]any{"name": "x"}}))
	assert.Empty(t, response.Header.Get("Mcp-Session-Id"))
}

func TestASessionIsFoundAgain(t *testing.T) {
	s := newSessions(newSealer(Config{}))
	one := mcpserver.NewSession("one")
	id := s.add(one, "")
	found, refused := s.find(id, "")
	require.Nil(t, refused)
	assert.Same(t, one, found)
	assert.NotEqual(t, id, s.add(one, ""))
	for _, r := range id {
		assert.True(t, r > ' ' && r < 0x7f, "visible ASCII, as a header wants it")
	}
}

func TestIDsThatCannotBeOurs(t *testing.T) {
	key := strings.Repeat("ab", keyBytes)
	for _, id := range []string{"", "x", key, key[2:] + ".", "zz" + key[2:] + ".", key + ".!", key + "." + strings.Repeat("a", 2*maxNameBytes), key + ".", key + ".YQ", key + ".." + key} {
		_, refused := newSessions(newSealer(Config{})).find(id, "")
		assert.Equal(t, sessionNotFound, refused, id)
	}
}

// Sessions are dropped when they are too many or idle, and restored with the client's name when they are
// used again.
func TestSessionsAreBounded(t *testing.T) {
	s := newSessions(newSealer(Config{}))
	now := time.Unix(0, 0)
	s.now = func() time.Time { return now }
	first := mcpserver.NewSession(strings.Repeat("n", 2*maxNameBytes))
	id := s.add(first, "")
	for range maxSessions - 1 {
		s.add(mcpserver.NewSession(""), "")
	}
	kept, _ := s.find(id, "")
	assert.Same(t, first, kept)
	s.add(mcpserver.NewSession(""), "") // evicts another one that was used less recently
	kept, _ = s.find(id, "")
	assert.Same(t, first, kept)
	assert.Len(t, s.byID, maxSessions)

	now = now.Add(maxIdle)
	s.add(mcpserver.NewSession(""), "")
	assert.Len(t, s.byID, 1)
	assert.Equal(t, 1, s.order.Len())
	again, refused := s.find(id, "")
	require.Nil(t, refused)
	assert.NotSame(t, first, again)
	assert.Equal(t, strings.Repeat("n", maxNameBytes), again.Client())
}

// TestOneSubjectEndsNobodysSessions: a subject with many sessions loses its own oldest one, whose connections are ended. Nobody
// gets a session by an id that was another subject's, also not when it is no longer remembered.
func TestOneSubjectEndsNobodysSessions(t *testing.T) {
	s := newSessions(newSealer(Config{}))
	now := time.Unix(0, 0)
	s.now = func() time.Time { return now }
	var ended []*mcpserver.Session
	s.ended = func(session *mcpserver.Session) { ended = append(ended, session) }
	alices, first := mcpserver.NewSession(""), mcpserver.NewSession("")
	id := s.add(alices, "alice")
	s.add(first, "bob")
	for range maxSessions {
		s.add(mcpserver.NewSession(""), "bob")
	}
	assert.Len(t, s.byID, 1+maxSessionsEach)
	assert.Same(t, first, ended[0])
	found, _ := s.find(id, "alice")
	assert.Same(t, alices, found)
	for i := range 2 * maxSessions {
		s.add(mcpserver.NewSession(""), strings.Repeat("c", 1+i%8))
	}
	assert.Len(t, s.byID, maxSessions)
	found, _ = s.find(id, "alice")
	assert.Same(t, alices, found, "the subjects with most give way")

	now = now.Add(maxIdle)
	s.add(mcpserver.NewSession(""), "bob")
	assert.Contains(t, ended, alices)
	_, refused := s.find(id, "bob")
	assert.Equal(t, sessionNotFound, refused)
	_, refused = newSessions(s.seal).find(id, "alice")
	assert.Nil(t, refused, "after a restart")
}
