package mcpserver

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

func cancelOf(id string) Message {
	return Parse([]byte(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `}}`))
}

func callOf(id string) Message {
	return Parse([]byte(`{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call"}`))
}

// Over HTTP a cancellation may arrive before its call. It still takes effect within a limited time.
func TestACancelMayOvertakeItsCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewSession("x")
		s.notified(cancelOf("7"))
		ctx, end := s.Start(t.Context(), callOf("7"))
		assert.Error(t, ctx.Err())
		end()
		ctx, end = s.Start(t.Context(), callOf("7"))
		assert.NoError(t, ctx.Err(), "it counts once")
		end()
		s.notified(cancelOf("7"))
		ctx, end = s.Start(t.Context(), callOf("7"))
		assert.NoError(t, ctx.Err(), "a cancel that comes late is for the call that has ended")
		end()
		s.notified(cancelOf(`"a"`))
		time.Sleep(recentForgets)
		ctx, end = s.Start(t.Context(), callOf(`"a"`))
		assert.NoError(t, ctx.Err(), "it is forgotten")
		end()
	})
}

func TestWhatASessionRemembersIsBounded(t *testing.T) {
	s := NewSession(strings.Repeat("é", 5<<20))
	assert.Len(t, s.Client(), maxNameBytes)
	for n := range 2 * maxRecent {
		s.notified(cancelOf(fmt.Sprint(n)))
		_, end := s.Start(t.Context(), callOf(fmt.Sprint(-1-n)))
		end()
	}
	s.notified(cancelOf(`"` + strings.Repeat("x", 1<<20) + `"`))
	assert.Len(t, s.cancelled.ids, maxRecent)
	assert.Len(t, s.over.ids, maxRecent)
	assert.Empty(t, s.flying)
	answer(t, newTestServer(Config{}), s, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{"x":"`+
		strings.Repeat("x", maxCapabilities)+`"},"clientInfo":{"name":"`+strings.Repeat("n", 5<<20)+`"}}}`)
	assert.Len(t, s.Client(), maxNameBytes)
	assert.Empty(t, s.capabilities)
}
