package proxy

import (
	"context"
	"sync"
	"time"

	"mcp-pruner/fsm"
	"mcp-pruner/fsm/event"
	"mcp-pruner/fsm/trace"
	"mcp-pruner/states"
)

// idle is the time without a request after which a session's run ends.
const idle = time.Hour

// runs holds the sessions that pass through the proxy. Each is a run of the run machine: it starts with the
// session's first request, degrades when a request passes through undecided, and ends with the proxy or
// after an idle hour. The id of its record is the session in the records of its requests.
type runs struct {
	definition *fsm.Definition
	emit       func(event.Event)
	record     func(*trace.Record) // receives the record of each finished run; nil: records are dropped
	now        func() time.Time

	mu    sync.Mutex
	going map[string]*sessionRun // by the conversation's name
	swept time.Time
}

// sessionRun is the run of one session.
type sessionRun struct {
	machine *fsm.Machine
	session *states.Session
	client  string
	last    time.Time
}

func newRuns(emit func(event.Event), record func(*trace.Record), now func() time.Time) *runs {
	return &runs{definition: fsm.MustCompile(fsm.RunTable()), emit: emit, record: record, now: now, going: make(map[string]*sessionRun)}
}

// session returns the state shared by the records of a conversation's requests.
func (r *runs) session(name, client string) *states.Session {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	r.sweep(now)
	s := r.going[name]
	if s == nil {
		s = &sessionRun{session: &states.Session{}, client: client}
		s.machine = r.definition.New(s.session.ID(), fsm.Hooks{Emit: r.emit, Now: r.now})
		r.fire(s, fsm.ConfigResolved, nil)
		r.fire(s, fsm.ServerReady, nil)
		r.going[name] = s
	}
	s.last = now
	return s.session
}

// failed records that a request of a conversation passed through undecided because the ledger did not
// answer.
func (r *runs) failed(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s := r.going[name]; s != nil && s.machine.State() == fsm.RunRunning {
		r.fire(s, fsm.ServerFailed, fsm.Facts{"reason": "unreachable"})
	}
}

// close ends every run.
func (r *runs) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for name := range r.going {
		r.end(name)
	}
}

// sweep ends the runs that have been idle too long.
func (r *runs) sweep(now time.Time) {
	if now.Sub(r.swept) < time.Minute {
		return
	}
	r.swept = now
	for name, s := range r.going {
		if now.Sub(s.last) > idle {
			r.end(name)
		}
	}
}

func (r *runs) end(name string) {
	s := r.going[name]
	delete(r.going, name)
	r.fire(s, fsm.PhaseEnded, nil)
	if r.record == nil {
		return
	}
	record := trace.NewRecord(s.machine)
	record.Client = s.client
	r.record(&record)
}

// fire fires a trigger of a run's machine. The table has a row for each trigger fired in this package.
func (r *runs) fire(s *sessionRun, trigger fsm.Trigger, facts fsm.Facts) {
	if err := s.machine.Fire(context.Background(), trigger, facts); err != nil {
		panic(err)
	}
}
