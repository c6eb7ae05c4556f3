package clearing

import (
	"context"
	"sync"
	"time"

	"github.com/mcp-pruner/mcp-pruner/fsm"
	"github.com/mcp-pruner/mcp-pruner/fsm/trace"
	"github.com/mcp-pruner/mcp-pruner/states"
)

// idle is the time without a request after which a session's run ends.
const idle = time.Hour

// Runs holds the sessions that pass through the proxy. Each is a run of the run machine: it starts with the
// session's first request, degrades when a request passes through undecided, and ends with the proxy or
// after an idle hour. The id of its record is the session in the records of its requests. A note of each
// run in progress is in the trace, so that a killed proxy's runs are recorded as interrupted.
type Runs struct {
	definition *fsm.Definition
	emit       func(fsm.Event)
	trace      *trace.File // nil: runs are not recorded
	version    string
	now        func() time.Time
	alone      alone

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
	note    trace.Note
}

// NewRuns returns no runs yet. file may be nil: runs are then not recorded.
func NewRuns(emit func(fsm.Event), file *trace.File, version string, now func() time.Time) *Runs {
	return &Runs{definition: fsm.MustCompile(fsm.RunTable()), emit: emit, trace: file, version: version, now: now, going: make(map[string]*sessionRun)}
}

// Session returns the state shared by the records of a conversation's requests.
func (r *Runs) Session(name, client string) *states.Session {
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
		r.takeNote(s)
		r.going[name] = s
	}
	s.last = now
	return s.session
}

// Failed records that a request of a conversation passed through undecided because the ledger did not
// answer.
func (r *Runs) Failed(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s := r.going[name]; s != nil && s.machine.State() == fsm.RunRunning {
		r.fire(s, fsm.ServerFailed, fsm.Facts{"reason": "unreachable"})
		r.takeNote(s)
	}
}

// Close ends every run.
func (r *Runs) Close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for name := range r.going {
		r.end(name)
	}
}

// sweep ends the runs that have been idle too long.
func (r *Runs) sweep(now time.Time) {
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

func (r *Runs) end(name string) {
	s := r.going[name]
	delete(r.going, name)
	r.fire(s, fsm.PhaseEnded, nil)
	if r.trace != nil {
		r.trace.Append(r.record(s), s.note)
	}
}

// takeNote notes a run's progress in case the proxy is killed.
func (r *Runs) takeNote(s *sessionRun) {
	if r.trace != nil {
		s.note = r.trace.Renote(s.note, r.record(s))
	}
}

func (r *Runs) record(s *sessionRun) *trace.Record {
	record := new(trace.Record)
	record.Take(s.machine)
	record.Server, record.Client = r.version, s.client
	return record
}

// fire fires a trigger of a run's machine. The table has a row for each trigger fired in this package.
func (r *Runs) fire(s *sessionRun, trigger fsm.Trigger, facts fsm.Facts) {
	if err := s.machine.Fire(context.Background(), trigger, facts); err != nil {
		panic(err)
	}
}
