package proxy

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/recovery/archive"
	"github.com/mcp-pruner/mcp-pruner/states/existing"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc/planner"
	"github.com/mcp-pruner/mcp-pruner/tools/tokens"
)

// engine decides what replaces the results in a request. Decisions are held in memory and in the store.
// They are stored before they are applied, so that a restarted proxy sends the same bytes.
type engine struct {
	store   *contextgc.Store
	index   archive.Index
	back    func(client string) string // the command that recovers a text, without the id; nil: fresh.DefaultBack
	policy  planner.Policy
	clears  bool // clears old results
	prunes  bool // prunes new results
	others  history.OtherTools
	replace replacer
	now     func() time.Time
	keys    keyring

	report   func(error) // told once that the ledger is lost; nil: nobody
	lost     atomic.Bool
	deciding [1024]sync.Mutex // by mark: one history that several requests have at once is decided by one of them
	flushing sync.Mutex       // held by flushInTurn

	mu       sync.Mutex
	groups   map[key]*group       // decisions, by id
	heads    map[key]key          // by mark
	unstored map[key]key          // heads that are not in the store yet
	loaded   int64                // number of the last decision loaded from the store
	seen     map[string]time.Time // time of each session's latest request
	pinned   map[[32]byte]bool
	looked   time.Time // time of the latest check of the store for other processes' decisions
}

// decision is the text that replaces a result.
type decision struct {
	text   string
	tokens int
	free   bool
}

// replacer runs the request machine for results that are to be replaced. It returns the texts of those that
// were replaced, by index.
type replacer func(ctx context.Context, c *conversation, client string, change []change) (map[int]string, error)

// change is a planned replacement of a result.
type change struct {
	result  *result
	write   func(id string) string // returns the replacement, which names the original by its id
	text    string                 // the replacement
	segment string                 // of the ledger, with the original
	id      string                 // by which the agent recovers the original
	why     string
}

// outcome is the rewritten request and its statistics.
type outcome struct {
	body    []byte
	session string
	before  int // bytes of the replaced results
	after   int // bytes of their replacements
	cleared int // number of replaced results
	fresh   int // number of those decided in this request
	bill    planner.Bill
	why     string
}

// maxSessions bounds the sessions whose latest request is remembered.
const maxSessions = 100_000

// errLost means that the ledger was removed or replaced. The ids in the stubs then lead nowhere.
var errLost = errors.New("the ledger was removed or replaced while the proxy runs")

// load reads other processes' decisions from the store, at most once per second. It returns errLost from the moment on
// at which the ledger was found to be lost.
func (e *engine) load(ctx context.Context) error {
	if e.lost.Load() || e.store.Lost() {
		e.forget()
		return errLost
	}
	e.mu.Lock()
	fresh := e.groups != nil && e.now().Sub(e.looked) < time.Second
	e.mu.Unlock()
	if fresh {
		return nil
	}
	return e.reload(ctx)
}

// forget drops every decision, because their originals are in the requests only.
func (e *engine) forget() {
	if e.lost.Swap(true) {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.groups, e.heads, e.unstored = make(map[key]*group), make(map[key]key), make(map[key]key)
	if e.report != nil {
		e.report(fmt.Errorf("%w (%s): results are sent whole, and nothing is cleared until the proxy starts again", errLost, e.store.Path()))
	}
}

func (e *engine) reload(ctx context.Context) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	list, last, err := e.store.Clearings(ctx, e.loaded)
	if err != nil {
		return err
	}
	pinned, err := e.store.Pinned(ctx)
	if err != nil {
		return err
	}
	if e.groups == nil {
		e.groups, e.heads, e.unstored = make(map[key]*group), make(map[key]key), make(map[key]key)
		e.seen = make(map[string]time.Time)
	}
	e.loaded, e.pinned, e.looked = last, pinned, e.now()
	e.learn(list)
	return nil
}

// rewrite returns the request to send. With decide false it makes no new decisions, as for requests that
// only count tokens.
func (e *engine) rewrite(ctx context.Context, c *conversation, client string, decide bool) (outcome, error) {
	if err := e.load(ctx); err != nil {
		return outcome{}, err
	}
	e.keys.identify(c)
	marks := c.marks()
	if here := marks[len(marks)-1]; decide && len(here) > 0 {
		lock := &e.deciding[binary.BigEndian.Uint16(here[0][:])%uint16(len(e.deciding))]
		lock.Lock()
		defer lock.Unlock()
	}
	expired := decide && e.expired(c)
	for {
		heads, err := e.lookup(ctx, marks)
		if err != nil {
			return outcome{}, err
		}
		w := e.walk(c, marks, heads)
		err = w.all(ctx, client, expired, decide)
		if errors.Is(err, contextgc.ErrDecided) {
			if err = e.reload(ctx); err == nil {
				continue // by another process
			}
		}
		return w.outcome(), err
	}
}

// How long the provider keeps its cache after the last use, by default and if a request asks for an hour, and how much
// longer the proxy takes it for alive: clearing a cache that is alive costs more than waiting.
const (
	cacheLife     = 5 * time.Minute
	longCacheLife = time.Hour
	cacheMargin   = time.Minute
)

// expired reports whether the provider's cache has expired since the session's last request.
func (e *engine) expired(c *conversation) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	now := e.now()
	before, known := e.seen[c.session]
	e.seen[c.session] = now
	if len(e.seen) > maxSessions {
		e.seen = map[string]time.Time{c.session: now}
	}
	if !known || now.Sub(before) <= cacheLife+cacheMargin {
		return false
	}
	return now.Sub(before) > longCacheLife+cacheMargin || !c.cachedForAnHour()
}

// walk processes a conversation in the order in which it happened.
type walk struct {
	*engine
	*conversation
	marks   [][]key
	heads   map[key]key // of the marks that were known before
	session *planner.Session
	forced  map[key]bool     // decisions in force so far
	inForce map[key]decision // by result
	grown   bool             // there are decisions that apply has not applied
	head    key              // the latest decision in force
	at      []key            // the same, at the end of each turn
	shown   []*decision      // per result, its replacement; nil: none
	pruned  []change         // new results and their replacements
	fresh   int              // number of new decisions
	why     string
}

// walk returns a walk at the beginning of a conversation.
func (e *engine) walk(c *conversation, marks [][]key, heads map[key]key) *walk {
	return &walk{engine: e, conversation: c, marks: marks, heads: heads, session: planner.NewSession(e.policy), forced: make(map[key]bool),
		inForce: make(map[key]decision), at: make([]key, len(c.turns)), shown: make([]*decision, len(c.results))}
}

// all walks through every turn and decides at the last one.
func (w *walk) all(ctx context.Context, client string, expired, decide bool) error {
	last := len(w.turns) - 1
	for i := range w.turns[:last] {
		w.enter(i)
		w.turn(i)
		w.apply(i)
	}
	known := w.enter(last)
	decides := decide && !known && w.asks()
	if decides {
		w.prune(ctx)
	}
	w.turn(last)
	if decides {
		if err := w.decide(ctx, client, expired); err != nil {
			return err
		}
	}
	if w.asks() {
		w.apply(last)
	}
	if decide {
		w.settle()
	}
	return nil
}

// asks reports whether the request asks for a new answer, rather than the continuation of one that it
// begins.
func (w *walk) asks() bool {
	t := w.turns[len(w.turns)-1]
	return t.given > 0 || len(t.results) > 0
}

// turn adds a turn to the session. Results that were pruned when they were new never counted with their
// full size.
func (w *walk) turn(i int) {
	t := w.turns[i]
	if i == 0 {
		w.session.Text(tokens.OfJSON(w.base))
	}
	for _, file := range t.edited {
		w.session.Work(file)
	}
	w.session.Text(tokens.OfJSON(t.answer + t.given))
	for _, r := range t.results {
		size := tokens.OfJSON(r.bytes)
		if d, ok := w.inForce[r.key]; ok {
			size = d.tokens
			w.shown[r.index] = &d
		}
		for _, ch := range w.pruned {
			if ch.result == r {
				size = tokens.OfJSON(len(ch.write("prn_01234567")))
			}
		}
		file, _, _ := r.use.call.FileRead()
		w.session.Result(size, file, r.fixed || w.isPinned(r.key))
	}
}

func (w *walk) isPinned(k key) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.pinned[k]
}

// apply applies the decisions in force at the end of a turn, before the model call that followed.
func (w *walk) apply(i int) {
	var clear []int
	free := false
	if w.grown {
		for _, r := range w.results {
			d, ok := w.inForce[r.key]
			if !ok || r.turn > i || w.shown[r.index] != nil {
				continue
			}
			w.shown[r.index] = &d
			if r.turn < i {
				clear, free = append(clear, r.index), d.free
			}
		}
		w.grown = false
	}
	w.session.Call(clear, free)
}

// decide clears the results that the planner selects.
func (w *walk) decide(ctx context.Context, client string, expired bool) error {
	changes := w.pruned
	if w.clears {
		d := w.policy.Decide(w.session.Window(expired))
		w.why = d.Why
		for _, i := range d.Clear {
			r := w.results[i]
			stub := func(way string) string { return Stub(tokens.OfJSON(r.bytes), way) }
			changes = append(changes, change{result: r, write: stub, why: d.Why})
		}
	}
	if len(changes) == 0 {
		return nil
	}
	return w.commit(ctx, client, changes, expired)
}

// wayBack returns the command by which a client's agent recovers a text, without the id.
func (e *engine) wayBack(client string) string {
	if e.back == nil {
		return existing.DefaultBack
	}
	return e.back(client)
}

// outcome splices the replacements into the body.
func (w *walk) outcome() outcome {
	o := outcome{body: w.body, session: w.conversation.session, fresh: w.fresh, bill: w.session.Bill(), why: w.why}
	var edits []edit
	for i, d := range w.shown {
		r := w.results[i]
		if d == nil || r.fixed {
			continue
		}
		text := r.stub(d.text)
		edits = append(edits, edit{r.at, text})
		o.cleared++
		o.before += r.at.to - r.at.from
		o.after += len(text)
	}
	if len(edits) > 0 {
		o.body = splice(w.body, edits)
	}
	return o
}

// known is rewrite without the store: it applies earlier decisions and makes no new ones.
func (e *engine) known(c *conversation) outcome {
	e.keys.identify(c)
	marks := c.marks()
	heads, _ := e.recall(marks)
	w := e.walk(c, marks, heads)
	for i := range c.turns {
		w.enter(i)
		w.turn(i)
		w.apply(i)
	}
	return w.outcome()
}
