package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/fsm"
	"github.com/mcp-pruner/mcp-pruner/states"
	"github.com/mcp-pruner/mcp-pruner/tools"
)

// at takes a slot and says so; the slot is kept until the test ends it.
func takeSlot(ctx context.Context, s *slots, client string) (taken chan func()) {
	return takeSlotAs(ctx, s, client, client)
}

// takeSlotAs does so for one of several clients with the same name.
func takeSlotAs(ctx context.Context, s *slots, name, client string) (taken chan func()) {
	taken = make(chan func(), 1)
	go func() { taken <- s.acquire(ctx, name, client) }()
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
		assert.Equal(t, use{plain: 256}, s.used)
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
		assert.Equal(t, use{plain: 4}, s.used)
		assert.Len(t, takeSlot(ctx, s, "other"), 1)
	})
}

// A client that opens a session for every call takes no more than one name gets: clients with other names have
// slots at once, and get one that is free before it does.
func TestASessionPerCallTakesOneNamesShare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		s := newSlots(16, 4)
		var held []chan func()
		for n := range 100 {
			held = append(held, takeSlotAs(ctx, s, "greedy", fmt.Sprint(n)))
		}
		assert.Equal(t, use{12, 4}, s.used)
		for range 4 {
			assert.Len(t, takeSlot(ctx, s, "other"), 1)
		}
		assert.Len(t, takeSlot(ctx, s, "third"), 1)
		second := takeSlot(ctx, s, "third")
		assert.Empty(t, second)
		(<-held[0])()
		synctest.Wait()
		assert.Len(t, second, 1)
	})
}

// 64 clients with the same name are agents of one kind: each gets its share.
func TestManyClientsOfOneName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		s := newSlots(256, 64)
		for range 5 {
			for client := range 64 {
				takeSlotAs(ctx, s, "agent", fmt.Sprint(client))
			}
		}
		assert.Equal(t, use{plain: 192}, s.used)
		for client, share := range s.clients {
			assert.Equal(t, 3, share.used, client)
		}
		assert.Len(t, takeSlotAs(ctx, s, "agent", "the 65th"), 1)
		assert.Len(t, takeSlot(ctx, s, "another"), 1)
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
		release := s.acquire(t.Context(), "a", "a")
		ctx, cancel := context.WithCancel(t.Context())
		gaveUp := takeSlot(ctx, s, "a")
		cancel()
		(<-gaveUp)()
		release()
		assert.Zero(t, s.used)
		assert.Empty(t, s.clients)
		s.acquire(t.Context(), "a", "a")()
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

// TestFeaturesOfOneSubjectHoldUpNoOther: resources that hang in many sessions of one subject leave slots to the client of another one,
// which has the same name.
func TestFeaturesOfOneSubjectHoldUpNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		end := make(chan struct{})
		s := New(Config{MaxCalls: 16, MaxEach: 4, Version: "0.0.0", Features: &Features{
			Answer: func(_ context.Context, _ *Caller, method string, _ json.RawMessage) (json.RawMessage, *tools.RPCError) {
				if method == "resources/read" {
					<-end
				}
				return json.RawMessage(`{"prompts":[]}`), nil
			},
		}})
		ask := func(subject, method string) (answered chan string) {
			session := NewSession("claude-code")
			require.True(t, session.Claim(subject))
			answered = make(chan string, 1)
			go func() {
				answered <- answer(t, s, session, `{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":{}}`)
			}()
			synctest.Wait()
			return answered
		}
		for range 64 {
			ask("ada", "resources/read")
		}
		assert.Len(t, ask("bob", "prompts/list"), 1)
		close(end)
	})
}

// TestCallsWithoutASessionCountByConnection: agents of protocol 2026-07-28 have one name and no sessions. The commands of
// 64 of them leave slots to the next one; one that calls often on a connection takes no more than its share.
func TestCallsWithoutASessionCountByConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var atWork atomic.Int32
		end := make(chan struct{})
		sleeping := asking(func(context.Context) error { atWork.Add(1); <-end; return nil })
		s := New(Config{MaxCalls: 256, MaxEach: 64, Version: "0.0.0", Pipeline: &states.Pipeline{Machine: fsm.MustCompile(fsm.RequestTable())},
			List: func(string) []tools.Tool { return []tools.Tool{sleeping} }})
		for range 65 {
			go answer(t, s, AloneOn(new(int), nil), askCall)
		}
		synctest.Wait()
		assert.EqualValues(t, 65, atWork.Load())
		one := new(int)
		for range 100 {
			go answer(t, s, AloneOn(one, nil), askCall)
		}
		synctest.Wait()
		assert.EqualValues(t, 65+64, atWork.Load())
		close(end)
	})
}
