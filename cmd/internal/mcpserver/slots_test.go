package mcpserver

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"mcp-pruner/fsm"
	"mcp-pruner/states"
	"mcp-pruner/tools"
)

// at takes a slot and says so; the slot is kept until the test ends it.
func takeSlot(ctx context.Context, s *slots, client string) (taken chan func()) {
	taken = make(chan func(), 1)
	go func() { taken <- s.acquire(ctx, client) }()
	synctest.Wait()
	return taken
}

// Of 64 clients that each want five slots of 256, everybody gets some, and the next
// client's call does not wait.
func TestTheNextClientWaitsForNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		s := newSlots(256, 64)
		for range 5 {
			for client := range 64 {
				takeSlot(ctx, s, fmt.Sprint(client))
			}
		}
		assert.Equal(t, 256, s.used)
		assert.Len(t, takeSlot(ctx, s, "the 65th"), 1)
		for client, share := range s.clients {
			assert.GreaterOrEqual(t, share.used, 1, client)
		}
	})
}

func TestOneClientTakesNoMoreThanItsShare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		s := newSlots(16, 4)
		for range 100 {
			takeSlot(ctx, s, "greedy")
		}
		assert.Equal(t, 4, s.used)
		assert.Len(t, takeSlot(ctx, s, "other"), 1)
	})
}

// Those who wait take turns: a client with many calls in line does not keep another
// one's second call behind all of its own.
func TestClientsTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := t.Context()
		s := newSlots(2, 2)
		first, second := <-takeSlot(ctx, s, "a"), <-takeSlot(ctx, s, "b")
		third, fourth := takeSlot(ctx, s, "a"), takeSlot(ctx, s, "a")
		other := takeSlot(ctx, s, "b")
		first()
		synctest.Wait()
		release := <-third
		second()
		synctest.Wait()
		require.Len(t, other, 1, "it is the other client's turn")
		require.Empty(t, fourth)
		release()
		(<-other)()
		synctest.Wait()
		(<-fourth)()
		assert.Zero(t, s.used)
		assert.Empty(t, s.clients, "nobody is remembered who wants nothing")
		assert.Empty(t, s.turns)
	})
}

func TestACallThatGivesUpTakesNoSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSlots(1, 1)
		release := s.acquire(t.Context(), "a")
		ctx, cancel := context.WithCancel(t.Context())
		gaveUp := takeSlot(ctx, s, "a")
		cancel()
		(<-gaveUp)()
		release()
		assert.Zero(t, s.used)
		assert.Empty(t, s.clients)
		s.acquire(t.Context(), "a")()
	})
}

// An upstream server that does not answer may hold all the slots that its calls get. Calls to
// another upstream of the same session go through.
func TestAHungUpstreamHoldsUpNobodyElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var atWork atomic.Int32
		end := make(chan struct{})
		upstream := func(name string, run func(context.Context) error) tools.Tool {
			tool := asking(run)
			tool.Name, tool.Upstream = name, name
			return tool
		}
		offered := []tools.Tool{
			upstream("hung", func(context.Context) error { atWork.Add(1); <-end; return nil }),
			upstream("quick", func(context.Context) error { return nil }),
		}
		s := New(Config{MaxCalls: 16, MaxEach: 4, Version: "0.0.0", Pipeline: &states.Pipeline{Machine: fsm.MustCompile(fsm.RequestTable())},
			List: func(string) []tools.Tool { return offered }})
		session := &Session{}
		call := func(tool string) string {
			return answer(t, s, session, strings.Replace(askCall, `"ask"`, `"`+tool+`"`, 1))
		}
		for range 100 {
			go call("hung")
		}
		synctest.Wait()
		assert.EqualValues(t, 4, atWork.Load())
		for range 8 {
			assert.Contains(t, call("quick"), "slept")
		}
		close(end)
	})
}
