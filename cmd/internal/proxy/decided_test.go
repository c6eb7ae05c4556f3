package proxy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
)

// agents simulates sub-agents that begin as copies of one another, and continue through two proxies with one ledger.
type agents struct {
	t       *testing.T
	random  *rand.Rand
	path    string
	id      func(int) string
	proxies []*rig
	lists   [][]step
	before  [][]string        // the outputs that the upstream got in each agent's last request
	sent    map[string]string // what the upstream got for each request
	next    int
}

// Each result is decided once, whatever the order of events: with long, equal and missing call ids, for sub-agents with equal
// beginnings, and with two proxies that get requests at once and disagree on whether the provider's cache is warm.
func TestRandomAgentsAreDecidedOnce(t *testing.T) {
	for path, render := range renderings {
		for form, id := range map[string]func(int) string{"long": idForms["long"], "same": idForms["same"], "none": func(int) string { return "" }} {
			for seed := range uint64(2) {
				t.Run(fmt.Sprintf("%s, %s ids, seed %d", path, form, seed), func(t *testing.T) {
					file := database(t)
					a := &agents{t: t, random: rand.New(rand.NewPCG(seed, 10)), path: path, id: id, sent: make(map[string]string),
						proxies: []*rig{newRig(t, file, GC), newRig(t, file, GC)}, lists: make([][]step, 1), before: make([][]string, 1)}
					for range 30 {
						a.round(render)
					}
					assert.Greater(t, cleared([]byte(fmt.Sprint(a.before))), 5, "results that were cleared")
				})
			}
		}
	}
}

// round sends two requests at once, one through each proxy: of two agents, or twice the same. The proxies do not agree on the time.
func (a *agents) round(render func([]step) []byte) {
	if a.random.IntN(10) == 0 && len(a.lists) < 4 {
		i := a.random.IntN(len(a.lists))
		a.lists, a.before = append(a.lists, slices.Clone(a.lists[i])), append(a.before, a.before[i])
	}
	if a.random.IntN(4) == 0 {
		a.proxies[a.random.IntN(2)].advance(70 * time.Minute)
	}
	pair := [2]int{a.random.IntN(len(a.lists)), a.random.IntN(len(a.lists))}
	var bodies, got [2]string
	for p, i := range pair {
		if p == 0 || i != pair[0] && a.random.IntN(8) > 0 {
			a.next++
			a.lists[i] = append(a.lists[i], step{id: a.id(a.next), command: fmt.Sprintf("run %d", a.next), output: output(a.next)})
		}
		bodies[p] = string(render(a.lists[i]))
	}
	var wg sync.WaitGroup
	for p, r := range a.proxies {
		wg.Go(func() { got[p] = string(r.post(a.t, a.path, []byte(bodies[p]))) })
	}
	wg.Wait()
	for p, i := range pair {
		a.check(i, bodies[p], got[p])
	}
}

// check requires that a request that was sent before is sent as the same bytes, and that what was replaced stays so.
func (a *agents) check(i int, body, got string) {
	if before, was := a.sent[body]; was {
		require.Equal(a.t, before, got, "agent %d", i)
	}
	a.sent[body] = got
	now := outputsIn(a.t, got)
	require.Len(a.t, now, len(a.lists[i]))
	for n, was := range a.before[i] {
		if was != a.lists[i][n].output {
			require.Equal(a.t, was, now[n], "agent %d, result %d of %d", i, n, len(now))
		}
	}
	a.before[i] = now
}

// outputsIn returns the outputs of a request's tool calls, in their order.
func outputsIn(t *testing.T, body string) (outputs []string) {
	t.Helper()
	var request struct {
		Messages []struct{ Content any }
		Contents []struct {
			Parts []struct {
				FunctionResponse *struct{ Response struct{ Output string } }
			}
		}
	}
	require.NoError(t, json.Unmarshal([]byte(body), &request))
	for _, m := range request.Messages {
		blocks, _ := m.Content.([]any)
		for _, b := range blocks {
			if block := b.(map[string]any); block["type"] == "tool_result" {
				outputs = append(outputs, block["content"].(string))
			}
		}
	}
	for _, c := range request.Contents {
		for _, part := range c.Parts {
			if part.FunctionResponse != nil {
				outputs = append(outputs, part.FunctionResponse.Response.Output)
			}
		}
	}
	return outputs
}

// slowLedger takes no decision that nothing is cleared, and no places, until it is fast.
type slowLedger struct {
	contextgc.Ledger
	fast atomic.Bool
}

func (l *slowLedger) Clear(ctx context.Context, place contextgc.Place, list []contextgc.Clearing) ([]contextgc.Clearing, error) {
	if l.fast.Load() {
		return l.Ledger.Clear(ctx, place, list)
	}
	<-ctx.Done()
	return nil, ctx.Err()
}

func (l *slowLedger) Settle(ctx context.Context, heads map[[32]byte][32]byte) (bool, error) {
	if l.fast.Load() {
		return l.Ledger.Settle(ctx, heads)
	}
	return false, errors.New("the ledger is slow")
}

// TestAProxyGivesWay: a proxy whose ledger was too slow to take its decision for a history decides like the one that was faster,
// from then on, also if it has sent a longer history meanwhile.
func TestAProxyGivesWay(t *testing.T) {
	for name, longer := range map[string]bool{"the same history": false, "a longer one": true} {
		t.Run(name, func(t *testing.T) {
			file := database(t)
			late, other := newRig(t, file, GC), newRig(t, file, GC)
			slow := &slowLedger{Ledger: late.store}
			late.engine.Store, late.engine.Clears, late.engine.Hurry = slow, false, time.Millisecond
			require.Equal(t, string(full(claudeHistory(60))), string(late.post(t, "/v1/messages", full(claudeHistory(60)))))
			if longer {
				require.Equal(t, string(full(claudeHistory(61))), string(late.post(t, "/v1/messages", full(claudeHistory(61)))))
			}
			require.Error(t, late.engine.Flush(t.Context()))
			decided := string(other.post(t, "/v1/messages", full(claudeHistory(60))))
			require.NotEqual(t, string(full(claudeHistory(60))), decided)
			slow.fast.Store(true)
			if longer {
				require.NoError(t, late.engine.Flush(t.Context()))
			}
			assert.Equal(t, decided, string(late.post(t, "/v1/messages", full(claudeHistory(60)))))
			assert.Equal(t, string(other.post(t, "/v1/messages", full(claudeHistory(61)))), string(late.post(t, "/v1/messages", full(claudeHistory(61)))))
		})
	}
}
