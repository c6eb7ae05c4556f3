package proxy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcp-pruner/mcp-pruner/fsm"
	"github.com/mcp-pruner/mcp-pruner/states/clearing"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
)

// HealthPath is the path at which a proxy reports its Health, to callers with its secret.
const HealthPath = "/healthz"

// Health is a proxy's report on itself.
type Health struct {
	Status   string `json:"status"` // "ok", or "passing": nothing is pruned or cleared, for the reason in Message
	Policy   Policy `json:"policy"`
	Ledger   string `json:"ledger,omitempty"`
	Message  string `json:"message,omitempty"`
	Requests int64  `json:"requests"`
	Replaced int64  `json:"replaced"`                 // results that were pruned or cleared by this process
	Alone    int    `json:"left_alone"`               // sessions in which nothing is changed any more, because the API refused a change
	AloneWhy string `json:"left_alone_why,omitempty"` // of the latest of them
	NoWay    int64  `json:"no_way_back"`              // sessions in which results stay because the agent has no tool that would bring them back
	Before   int64  `json:"tokens_before,omitempty"`  // of the messages that gateways asked about
	After    int64  `json:"tokens_after,omitempty"`   // of those that they got
	Version  string `json:"version"`
}

// The values of Status.
const (
	OK      = "ok"
	Passing = "passing"
)

// tryAgainAfter is the time after which a request tries a ledger again that failed. Tests change it.
var tryAgainAfter = 2 * time.Second

// health records whether the ledger works. If it does not, nothing new is pruned or cleared, for any session, until it works
// again.
type health struct {
	emit     func(fsm.Event)
	open     func(context.Context) (*work, error) // nil: there is nothing to open
	policy   Policy
	ledger   string
	version  string
	retry    time.Duration
	requests atomic.Int64
	replaced atomic.Int64
	before   atomic.Int64 // tokens of the messages that gateways asked about
	after    atomic.Int64 // of those that they got
	active   atomic.Int64 // requests in progress
	noWay    atomic.Int64 // sessions in which results stay because nothing would bring them back
	stuck    logged       // those that were counted
	unfit    logged       // values that could not be stored

	mu     sync.Mutex
	why    string // "": it works
	lost   bool   // it has to be opened again
	trying time.Time
}

// failed switches pruning and clearing off because of an error in the ledger of w; nil: in one that could not be opened. An error
// about a value is that of its request alone.
func (h *health) failed(w *work, err error) {
	if errors.Is(err, contextgc.ErrValue) {
		if h.unfit.first("", time.Minute) {
			h.emit(fsm.NewEvent("mcp_pruner.warning", "", fsm.Facts{"message": "not stored: " + err.Error()}))
		}
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if w != nil && w.replaced {
		return // the last errors of a lost ledger say nothing about the one that was opened in its place
	}
	if w != nil && w.engine.Store.Lost() {
		err = w.engine.Lost() // whatever error was the first to show it
	}
	h.lost = h.lost || errors.Is(err, clearing.ErrLost)
	h.trying = time.Now()
	first := h.why == ""
	h.why = err.Error()
	if !first {
		return
	}
	h.emit(fsm.NewEvent("ledger.failed", "", fsm.Facts{"message": h.why + "; nothing is pruned or cleared until the ledger works again"}))
}

// works switches them on again.
func (h *health) works() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.why == "" || h.lost {
		return
	}
	h.why = ""
	h.emit(fsm.NewEvent("ledger.restored", "", fsm.Facts{"message": "the ledger works again, and so do pruning and clearing"}))
}

// due reports whether the ledger works, or this request is the one that tries it again.
func (h *health) due() (try, lost bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.why == "" {
		return true, false
	}
	if time.Since(h.trying) < h.retry {
		return false, h.lost
	}
	h.trying = time.Now()
	return true, h.lost
}

// worker returns what works on a request now; nil: nothing does. decides reports whether it may decide anything new.
func (s *server) worker(ctx context.Context) (w *work, decides bool) {
	try, lost := s.health.due()
	w = s.work.Load()
	if try && s.health.open != nil && (lost || w == nil) {
		w = s.reopen(ctx)
	}
	if w == nil || w.engine.Store.Lost() && !try {
		return nil, false // the ids in the stubs lead nowhere
	}
	return w, try
}

// reopen opens the ledger, or opens it again after it was lost. It returns nil if that fails.
func (s *server) reopen(ctx context.Context) *work {
	old := s.work.Load()
	if old != nil {
		_ = old.close() // its connections would keep the lost file's companions in the place of the new file's
	}
	w, err := s.health.open(context.WithoutCancel(ctx))
	if err != nil {
		s.health.failed(nil, err)
		return nil
	}
	s.work.Store(w)
	s.health.mu.Lock()
	s.health.lost = false
	if old != nil {
		old.replaced = true
	}
	s.health.mu.Unlock()
	if old != nil {
		s.health.works()
	}
	return w
}

// state returns the proxy's report on itself. It first checks that the ledger is still there.
func (s *server) state(ctx context.Context) Health {
	alone, why := 0, ""
	if s.runs != nil {
		w, decides := s.worker(ctx)
		if w != nil && decides {
			err := w.engine.Load(ctx)
			if err == nil {
				err = w.engine.Flush(ctx)
			}
			if err != nil && ctx.Err() == nil { // who asks and goes away at once says nothing of the ledger
				s.health.failed(w, err)
			}
		}
		if w != nil {
			alone, why = w.engine.Alone(ctx)
		}
	}
	s.health.mu.Lock()
	defer s.health.mu.Unlock()
	now := Health{Status: OK, Policy: s.health.policy, Ledger: s.health.ledger, Message: s.health.why, Version: s.health.version,
		Requests: s.health.requests.Load(), Replaced: s.health.replaced.Load(),
		Before: s.health.before.Load(), After: s.health.after.Load()}
	if now.Message != "" {
		now.Status = Passing
	}
	now.Alone, now.AloneWhy, now.NoWay = alone, why, s.health.noWay.Load()
	return now
}

// Changes says in words what the proxy has changed, and in which sessions it changes nothing any more.
func (h Health) Changes() string {
	text := fmt.Sprintf("%d results replaced", h.Replaced)
	if h.Alone > 0 {
		text += fmt.Sprintf("; sessions left alone: %d (%s)", h.Alone, h.AloneWhy)
	}
	if h.NoWay > 0 {
		text += fmt.Sprintf("; sessions in which results stay, because the client has no tool that would bring them back: %d", h.NoWay)
	}
	return text
}

// answerHealth answers GET /healthz. The answer is 200 in any case, because the API can be reached through the proxy.
func (s *server) answerHealth(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(s.state(r.Context())) // the client is gone
}
