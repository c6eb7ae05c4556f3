package clearing

import (
	"context"
	"sync"
	"time"

	"github.com/mcp-pruner/mcp-pruner/fsm"
	"github.com/mcp-pruner/mcp-pruner/fsm/trace"
	"github.com/mcp-pruner/mcp-pruner/states"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
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
	going kept[*sessionRun]
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
	return &Runs{definition: fsm.MustCompile(fsm.RunTable()), emit: emit, trace: file, version: version, now: now}
}

// Session returns the state shared by the records of a conversation's requests.
func (r *Runs) Session(ctx context.Context, name, client string) *states.Session {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	r.sweep(now)
	w := whose{agent.SubjectOf(ctx), name}
	s, ok := r.going.get(w)
	if !ok {
		s = &sessionRun{session: &states.Session{}, client: client}
		s.machine = r.definition.New(s.session.ID(), fsm.Hooks{Emit: r.emit, Now: r.now})
		r.fire(s, fsm.ConfigResolved, nil)
		r.fire(s, fsm.ServerReady, nil)
		r.takeNote(s)
		for _, gone := range r.going.put(w, s, 1, maxRuns) {
			r.end(gone)
		}
	}
	s.last = now
	return s.session
}

// Failed records that a request of a conversation passed through undecided because the ledger did not
// answer.
func (r *Runs) Failed(ctx context.Context, name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s, ok := r.going.get(whose{agent.SubjectOf(ctx), name}); ok && s.machine.State() == fsm.RunRunning {
		r.fire(s, fsm.ServerFailed, fsm.Facts{"reason": "unreachable"})
		r.takeNote(s)
	}
}

// Close ends every run.
func (r *Runs) Close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for w := range r.going.all {
		r.end(r.going.drop(w))
	}
}

// sweep ends the runs that have been idle too long.
func (r *Runs) sweep(now time.Time) {
	if now.Sub(r.swept) < time.Minute {
		return
	}
	r.swept = now
	for w, e := range r.going.all {
		if now.Sub(e.Value.(one[*sessionRun]).value.last) > idle {
			r.end(r.going.drop(w))
		}
	}
}

func (r *Runs) end(s *sessionRun) {
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
