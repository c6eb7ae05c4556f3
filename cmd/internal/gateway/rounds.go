package gateway

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/mcp/mcpserver"
	"github.com/mcp-pruner/mcp-pruner/tools"
	"github.com/mcp-pruner/mcp-pruner/tools/upstream/connect"
)

// In protocol 2026-07-28 a server does not ask its client by requests: its result says what it needs, and the client makes
// the call again with the answers. The servers here ask by requests. So their call goes on while the client is asked by a
// result, and the client's next call, which has the state of that result, waits for it.

const (
	maxRounds   = 256             // calls that wait for their client's next call; a long one counts once more for each roundBytes
	roundBytes  = 512 << 10       // of the params of its first and its latest call
	roundWithin = 5 * time.Minute // for that call
)

// rounds are the calls that wait for their client's next call, by the state that it will have.
type rounds struct {
	mu      sync.Mutex
	waiting map[string]*round
}

// round is a call of a server that may ask its client by results.
type round struct {
	caller        // as it was at the first call; its Notify and Ask are replaced
	call   string // which tool with which arguments

	now    atomic.Pointer[mcpserver.Caller] // the client's latest call
	asked  chan asked
	result chan outcome
	life   context.Context // of the server's call
	cancel context.CancelFunc

	mu   sync.Mutex
	open map[string]asked // questions without an answer
	last int
}

type asked struct {
	method string
	params json.RawMessage
	answer chan json.RawMessage
}

type outcome struct {
	answer connect.Answer
	err    error
}

// Notify implements connect.Caller.
func (r *round) Notify(method string, params any) {
	caller{r.now.Load(), r.names, r.server}.Notify(method, params)
}

// ProgressToken implements connect.Caller.
func (r *round) ProgressToken() any { return r.now.Load().ProgressToken() }

// Ask implements connect.Caller.
func (r *round) Ask(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, *tools.RPCError, error) {
	question := asked{method, r.signed(method, params), make(chan json.RawMessage, 1)}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(r.life, cancel)()
	select {
	case r.asked <- question:
	case <-ctx.Done():
		return nil, nil, ctx.Err()
	}
	select {
	case answer := <-question.answer:
		return answer, nil, nil
	case <-ctx.Done():
		return nil, nil, ctx.Err()
	}
}

// begin makes a server's call for a client of protocol 2026-07-28, which call identifies. It ends with life at the latest.
func (s *rounds) begin(life context.Context, c caller, call string, run func(ctx context.Context, from connect.Caller) (connect.Answer, error)) *round {
	ctx, cancel := context.WithCancel(life)
	r := &round{caller: c, call: call, asked: make(chan asked), result: make(chan outcome, 1), life: ctx, cancel: cancel, open: map[string]asked{}}
	r.now.Store(c.Caller)
	go func() {
		defer cancel()
		answer, err := run(ctx, r)
		r.result <- outcome{answer, err}
	}()
	return r
}

// wait returns the result of a round, or a result that asks the client what the server asks.
func (s *rounds) wait(ctx context.Context, r *round) (connect.Answer, error) {
	select {
	case <-ctx.Done():
		r.cancel()
		<-r.result
		return connect.Answer{}, ctx.Err()
	case done := <-r.result:
		return done.answer, done.err
	case question := <-r.asked:
		return s.ask(r, question)
	}
}

func (s *rounds) ask(r *round, question asked) (connect.Answer, error) {
	r.mu.Lock()
	r.last++
	id := "q" + strconv.Itoa(r.last)
	r.open[id] = question
	r.mu.Unlock()
	request := map[string]any{"method": question.method}
	if question.params != nil {
		request["params"] = question.params
	}
	state := rand.Text()
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.room(r) {
		r.cancel()
		return connect.Answer{}, &tools.Error{Code: "upstream_unavailable", Message: "too many calls wait for answers of their clients; try again later"}
	}
	s.waiting[state] = r
	time.AfterFunc(roundWithin, func() {
		if s.take(state) != nil {
			r.cancel()
		}
	})
	return connect.Asking(map[string]any{id: request}, state), nil
}

// size is how much of maxRounds a round takes.
func (r *round) size() int { return 1 + (len(r.Params())+len(r.now.Load().Params()))/roundBytes }

// room makes room for a round where there are too many: those whose calls have ended go, else those of the client that has most and
// more than the round's own. s.mu is locked.
func (s *rounds) room(of *round) bool {
	have, taken := map[any]int{}, of.size()
	for _, r := range s.waiting {
		have[ownerOf(r.Caller)] += r.size()
		taken += r.size()
	}
	for taken > maxRounds {
		victim, most := "", have[ownerOf(of.Caller)]+of.size()
		for state, r := range s.waiting {
			n := have[ownerOf(r.Caller)]
			if r.life.Err() != nil {
				n += 2 * maxRounds
			}
			if n > most {
				victim, most = state, n
			}
		}
		gone := s.waiting[victim]
		if gone == nil {
			return false
		}
		gone.cancel()
		delete(s.waiting, victim)
		have[ownerOf(gone.Caller)] -= gone.size()
		taken -= gone.size()
	}
	return true
}

func (s *rounds) take(state string) *round {
	s.mu.Lock()
	defer s.mu.Unlock()
	there := s.waiting[state]
	delete(s.waiting, state)
	return there
}

var errNoRound = errors.New("requestState belongs to no call that waits for an answer: it was answered already, or more than five minutes ago; make the call anew, without requestState")

// resume gives a round the answers in its client's next call.
func (s *rounds) resume(c *mcpserver.Caller, call string) (*round, error) {
	state, _ := c.Extra()["requestState"].(string)
	r := s.take(state)
	if r == nil {
		return nil, errNoRound
	}
	if _, mine := c.Holder(); r.call != call || mine != subjectOf(r.Caller) {
		r.cancel()
		<-r.result // the server has been told
		return nil, errNoRound
	}
	r.now.Store(c)
	answers, _ := c.Extra()["inputResponses"].(map[string]any)
	r.mu.Lock()
	defer r.mu.Unlock()
	for id, question := range r.open {
		if answer, given := answers[id]; given {
			question.answer <- encoded(answer)
			delete(r.open, id)
		}
	}
	return r, nil
}

// ownerOf returns whose the places are that a client takes: those of its subject or, where nobody is known by name, its own.
func ownerOf(c *mcpserver.Caller) any {
	holder, subject := c.Holder()
	if subject == nil || subject == "" {
		return holder
	}
	return subject
}

func subjectOf(c *mcpserver.Caller) any {
	_, subject := c.Holder()
	return subject
}
