package proxy

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history/sessions"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/recovery"
	"github.com/mcp-pruner/mcp-pruner/states/clearing"
	"github.com/mcp-pruner/mcp-pruner/states/store"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
	"github.com/mcp-pruner/mcp-pruner/tools/tooltest"
)

// recordedTurns is the variable that says how many recorded model calls are played.
const recordedTurns = "PROXY_TEST_TURNS"

// replayed plays recorded sessions as those of a model that thinks in each answer and binds that, through three proxies in random order.
// With restarts one proxy keeps everything in memory, and three share only a ledger and are started anew for each call.
type replayed struct {
	t        *testing.T
	restarts bool
	shared   string // the ledger of those that are started anew
	random   *rand.Rand
	proxies  []*rig
	gateways []gateway
	calls    int
	left     int

	of, model string
	messages  []any
	answer    []any // blocks of the answer that is not sent back yet
	input     []any // blocks that follow it
	offered   map[string]bool
	thoughts  int // of the person's turn
	at        time.Duration

	cleared, without int // results in the last requests, and requests that had lost earlier thinking
	marked           int // requests with a mark of ours
}

var errEnough = errors.New("enough")

// In recorded sessions of models that bind their thinking no request is refused, no thought of a turn is lost, and three proxies that share
// a ledger send the same bytes, marks included, whichever gets which request; so do they for a gateway. One mark of four is free.
func TestRecordedSessionsOfBoundModels(t *testing.T) {
	playRecorded(t, &replayed{left: 120})
}

// A proxy that holds a whole session in memory and proxies that know nothing but what the ledger has send the same bytes, marks included, at
// each call.
func TestMemoryChangesNothingInRecordedSessions(t *testing.T) {
	playRecorded(t, &replayed{left: 60, restarts: true})
}

// playRecorded plays the recorded sessions until enough calls are made.
func playRecorded(t *testing.T, p *replayed) {
	file := "../../../../shared/fixtures/sessions/claude-code-3.jsonl.gz"
	if _, err := os.Stat(file); err != nil {
		t.Skip("no fixtures")
	}
	p.t, p.random = t, rand.New(rand.NewPCG(53, 2))
	if n, err := strconv.Atoi(os.Getenv(recordedTurns)); err == nil {
		p.left = n
	}
	models := []string{"claude-opus-5-5", "claude-fable-5-2", "claude-haiku-5-5", "claude-sonnet-5-5"}
	err := sessions.ReadFile(t.Context(), file, func(s sessions.Session) error {
		p.begin(s.ID, models[p.calls%len(models)])
		for _, step := range s.Steps {
			if p.take(step); p.calls >= p.left {
				return errEnough
			}
		}
		return nil
	})
	require.ErrorIs(t, err, errEnough)
	t.Logf("%d calls, %d with a mark of ours, %d after earlier thinking was left out, %d results cleared", p.calls, p.marked, p.without, p.cleared)
	assert.Greater(t, p.marked, p.calls/2)
	assert.Positive(t, p.without)
	assert.Positive(t, p.cleared)
}

func (p *replayed) begin(id, model string) {
	file, other := database(p.t), database(p.t)
	p.proxies, p.gateways, p.shared = nil, nil, other
	p.of, p.model, p.at = id, model, 0
	p.compact()
	if p.restarts {
		p.proxies = []*rig{timed(p.t, file, 0)}
		return
	}
	for range 3 {
		p.proxies = append(p.proxies, newRig(p.t, file, GC))
		p.gateways = append(p.gateways, newGateway(p.t, newRig(p.t, other, GC)))
	}
}

func (p *replayed) compact() {
	p.messages, p.answer, p.input, p.offered, p.thoughts = nil, nil, nil, map[string]bool{}, 0
}

func (p *replayed) take(step sessions.Step) {
	switch step.Kind {
	case sessions.Compact:
		p.compact()
	case sessions.User, sessions.Attach:
		p.input = append(p.input, map[string]any{"type": "text", "text": cmp.Or(step.Text, "-")})
	case sessions.Result:
		if p.offered[step.ID] {
			p.input = append(p.input, map[string]any{"type": "tool_result", "tool_use_id": step.ID, "content": cmp.Or(step.Out, "-")})
		}
	case sessions.Say:
		p.answer = append(p.answer, map[string]any{"type": "text", "text": cmp.Or(step.Text, "-")})
	case sessions.Use:
		p.offered[step.ID] = true
		p.answer = append(p.answer, map[string]any{"type": "tool_use", "id": step.ID, "name": step.Tool, "input": step.Args})
	case sessions.Call:
		if len(p.input) > 0 {
			p.call(step.At)
		}
	}
}

// call sends what the client would send, and lets the model think.
func (p *replayed) call(at time.Duration) {
	if len(p.answer) > 0 {
		p.messages = append(p.messages, map[string]any{"role": "assistant", "content": p.answer})
	}
	p.messages = append(p.messages, map[string]any{"role": "user", "content": p.input})
	if !bytes.Contains(encoded(p.input), []byte(`"tool_result"`)) {
		p.thoughts = 0
	}
	for _, r := range p.proxies {
		r.advance(max(at-p.at, 0))
	}
	for _, g := range p.gateways {
		g.advance(max(at-p.at, 0))
	}
	p.at = max(p.at, at)
	last := p.input[len(p.input)-1].(map[string]any)
	last["cache_control"] = map[string]any{"type": "ephemeral"}
	body := ordered("model", p.model, "system", strings.Repeat("You are an agent. ", 2000), "tools", append([]any{map[string]any{"name": "Read"}}, claudeTools...), "messages", p.messages)
	delete(last, "cache_control")
	sent := p.send(body)
	if p.restarts {
		require.True(p.t, p.t.Run(strconv.Itoa(p.calls), func(t *testing.T) { p.restarted(t, body, sent) }))
	}
	p.check(body, sent)
	if p.calls%20 == 0 {
		p.compress(encoded(p.messages))
	}
	signature, err := tooltest.SignThinking(sent)
	require.NoError(p.t, err)
	p.answer, p.input = []any{map[string]any{"type": "thinking", "thinking": "hm", "signature": signature}}, nil
	p.thoughts++
	p.calls++
}

// send sends a request through proxies in random order.
func (p *replayed) send(body []byte) (sent []byte) {
	for _, i := range p.random.Perm(len(p.proxies)) {
		got := p.proxies[i].post(p.t, messagesPath, body)
		require.True(p.t, sent == nil || bytes.Equal(sent, got), "session %s, call %d: another proxy sends other bytes", p.of, p.calls)
		sent = got
	}
	return sent
}

// restarted sends a request through three proxies that have just been started.
func (p *replayed) restarted(t *testing.T, body, sent []byte) {
	for range 3 {
		r := timed(t, p.shared, p.at)
		got := r.post(t, messagesPath, body)
		require.True(t, bytes.Equal(sent, got), "session %s: other bytes without memory, from byte %d on", p.of, common(sent, got))
		r.proxy.Close() // the usage is then stored
	}
}

// check makes the checks of the API.
func (p *replayed) check(body, sent []byte) {
	_, message := tooltest.CheckThinking(sent)
	require.Empty(p.t, message, "session %s, call %d", p.of, p.calls)
	signed := func(text []byte) int { return bytes.Count(text, []byte(`"signature":"`)) }
	came, left := signed(body), signed(sent)
	require.GreaterOrEqual(p.t, left, min(p.thoughts, came), "session %s, call %d: a thought of the turn is lost", p.of, p.calls)
	marks := bytes.Count(sent, []byte(`"cache_control":{`)) - bytes.Count(body, []byte(`"cache_control":{`))
	require.LessOrEqual(p.t, marks, 1)
	p.marked += marks
	if left < came {
		p.without++
	}
	p.cleared = max(p.cleared, cleared(sent))
}

// compress asks each proxy to shrink the messages for a gateway.
func (p *replayed) compress(messages []byte) {
	var sent []byte
	for _, i := range p.random.Perm(len(p.gateways)) {
		_, got := p.gateways[i].compress(p.t, messages)
		require.True(p.t, sent == nil || bytes.Equal(sent, got), fmt.Sprintf("session %s, call %d: for a gateway", p.of, p.calls))
		sent = got
	}
}

// named is an index whose ids are derived from the texts.
type named struct{ clearing.Index }

func (named) Claim(_ context.Context, entries ...recovery.Entry) (ids []string, err error) {
	for _, e := range entries {
		ids = append(ids, "prn_"+e.Hash[:8])
	}
	return ids, nil
}

func (named) Release(context.Context, string) {}

// timed returns a rig whose ledger has the rig's time, and the usage of the answers.
func timed(t *testing.T, file string, at time.Duration) *rig {
	r := newRig(t, database(t), GC)
	r.advance(at)
	kept, err := store.OpenLedger(store.LedgerFile{File: file, Patience: patience, Now: r.clock})
	require.NoError(t, err)
	require.NoError(t, r.store.Close())
	r.store, r.engine.Store = kept, kept // closed by the rig
	r.engine.Index = named{r.engine.Index}
	now := *r.server.work.Load()
	now.usage = func(u contextgc.Usage) { assert.NoError(t, kept.AddUsage(context.Background(), u)) }
	r.server.work.Store(&now)
	return r
}
