package mcpserver

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/tools"
)

func changing() *Server { return serverOf(func(string) []tools.Tool { return nil }) }

// told returns a session, and the lines that its client is sent.
func told() (session *Session, lines *[]string) {
	lines = new([]string)
	return &Session{Notify: func(line []byte) { *lines = append(*lines, strings.TrimSpace(string(line))) }}, lines
}

// A client that has initialized is notified of every change until its connection ends.
func TestASessionIsToldOfChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := changing()
		session, lines := told()
		ctx, end := context.WithCancel(t.Context())
		go s.Tell(ctx, session)
		synctest.Wait()
		s.ListChanged(ToolsList)
		synctest.Wait()
		assert.Empty(t, *lines, "before initialize nothing is said")
		answer(t, s, session, introduction("one"))
		s.ListChanged(ToolsList)
		synctest.Wait()
		assert.Empty(t, *lines, "nor before the client is initialized")
		s.Answer(ctx, session, Parse([]byte(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)))
		synctest.Wait()
		require.Len(t, *lines, 1)
		assert.JSONEq(t, `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`, (*lines)[0])
		end()
		synctest.Wait()
		s.ListChanged(ToolsList)
		assert.Len(t, *lines, 1)
		assert.Empty(t, s.changes.waiting)
	})
}

const modernMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`

// listening opens a subscription; ended yields its answer.
func listening(ctx context.Context, s *Server, session *Session, notifications string) (ended <-chan string) {
	answers := make(chan string, 1)
	go func() {
		m := Parse([]byte(`{"jsonrpc":"2.0","id":"sub","method":"subscriptions/listen","params":{"notifications":` + notifications + `,` + modernMeta + `}}`))
		ctx, end := session.Start(ctx, m)
		defer end()
		body, _ := s.Answer(ctx, session, m).Begin(ctx)
		answers <- string(body)
	}()
	synctest.Wait()
	return answers
}

// In protocol 2026-07-28 a client subscribes. The acknowledgement comes first, every message carries the
// subscription's id, and when the server ends the subscription, it answers the request.
func TestASubscription(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := changing()
		session, lines := told()
		ended := listening(t.Context(), s, session, `{"toolsListChanged":true,"promptsListChanged":true}`)
		s.ListChanged(ToolsList)
		synctest.Wait()
		require.Len(t, *lines, 2)
		assert.JSONEq(t, `{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":
			{"_meta":{"io.modelcontextprotocol/subscriptionId":"sub"},"notifications":{"toolsListChanged":true}}}`, (*lines)[0])
		assert.JSONEq(t, `{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":
			{"_meta":{"io.modelcontextprotocol/subscriptionId":"sub"}}}`, (*lines)[1])
		s.StopListening()
		last := <-ended
		assert.Contains(t, last, `"id":"sub"`)
		assert.Contains(t, last, `"resultType":"complete"`)
		assert.Contains(t, last, `"io.modelcontextprotocol/subscriptionId":"sub"`)
	})
}

// A subscription to no supported notification ends at once. One that its client cancels gets no answer.
func TestTheEndOfASubscription(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := changing()
		session, lines := told()
		assert.Contains(t, <-listening(t.Context(), s, session, `{"promptsListChanged":true}`), `"result"`)
		require.Len(t, *lines, 1)
		assert.Contains(t, (*lines)[0], `"notifications":{}`)
		ended := listening(t.Context(), s, session, `{"toolsListChanged":true}`)
		answer(t, s, session, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"sub"}}`)
		assert.Empty(t, <-ended)
		assert.Empty(t, s.changes.waiting)
	})
}

func TestABadSubscription(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		session, lines := told()
		body := <-listening(t.Context(), changing(), session, `{"toolsListChanged":"yes"}`)
		assert.Contains(t, body, `"path":"notifications.toolsListChanged"`)
		body = <-listening(t.Context(), newTestServer(Config{}), session, `{"toolsListChanged":true}`)
		assert.Contains(t, body, "-32601", "its list never changes")
		assert.Empty(t, *lines)
	})
}

// The number of listeners is bounded.
func TestTooManyListeners(t *testing.T) {
	s := changing()
	var first *Listener
	for range maxListeners {
		l := s.Listen(NewSession(""))
		require.NotNil(t, l)
		first = l
	}
	assert.Nil(t, s.Listen(NewSession("")))
	first.Close()
	assert.NotNil(t, s.Listen(NewSession("")))
}

// A subject has a part of the listeners at most, however many sessions it has.
func TestOneSubjectLeavesListenersToOthers(t *testing.T) {
	s := changing()
	of := func(subject string) *Session {
		session := NewSession("")
		session.Claim(subject)
		return session
	}
	var first *Listener
	for range maxListeners / EachPart {
		first = s.Listen(of("alice"))
		require.NotNil(t, first)
	}
	assert.Nil(t, s.Listen(of("alice")))
	assert.NotNil(t, s.Listen(of("bob")))
	first.Close()
	assert.NotNil(t, s.Listen(of("alice")))
	for range maxListeners/EachPart + 1 {
		require.NotNil(t, s.Listen(of("")), "the owner of the machine has no part")
	}
}
