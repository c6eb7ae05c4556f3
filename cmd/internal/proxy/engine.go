package proxy

import (
	"context"
	"maps"
	"sync"
	"time"

	"mcp-pruner/cmd/internal/originals"
	"mcp-pruner/pruneclient/history"
	"mcp-pruner/tools/contextgc"
	"mcp-pruner/tools/contextgc/planner"
)

// engine decides what replaces the results in a request. Decisions are held in memory and in the store.
// They are stored before they are applied, so that a restarted proxy sends the same bytes.
type engine struct {
	store   *contextgc.Store
	index   originals.Index
	policy  planner.Policy
	clears  bool // clears old results
	prunes  bool // prunes new results
	others  history.OtherTools
	replace replacer
	now     func() time.Time
	keys    keyring

	mu      sync.Mutex
	decided map[key]map[key]decision // by place, then by result
	loaded  int64                    // number of the last decision loaded from the store
	settled map[key]bool             // places at which it was decided to clear nothing
	seen    map[string]time.Time     // time of each session's latest request
	pinned  map[[32]byte]bool
	looked  time.Time // time of the latest check of the store for other processes' decisions
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

const maxSettled = 100_000

// bytesPerToken is an estimate for code and prose in JSON.
const bytesPerToken = 3.6

func tokensOf(bytes int) int { return int(float64(bytes) / bytesPerToken) }

// load reads other processes' decisions from the store, at most once per second.
func (e *engine) load(ctx context.Context) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if now := e.now(); e.decided != nil && now.Sub(e.looked) < time.Second {
		return nil
	}
	list, last, err := e.store.Clearings(ctx, e.loaded)
	if err != nil {
		return err
	}
	pinned, err := e.store.Pinned(ctx)
	if err != nil {
		return err
	}
	if e.decided == nil {
		e.decided, e.settled, e.seen = make(map[key]map[key]decision), make(map[key]bool), make(map[string]time.Time)
	}
	e.loaded, e.pinned, e.looked = last, pinned, e.now()
	e.learn(list)
	return nil
}

// learn merges decisions from the store. The map of a place is read without a lock, so it is replaced and
// never modified.
func (e *engine) learn(list []contextgc.Clearing) {
	mine := make(map[key]map[key]decision)
	for _, c := range list {
		place := mine[c.Since]
		if place == nil {
			place = make(map[key]decision)
			maps.Copy(place, e.decided[c.Since])
			mine[c.Since] = place
		}
		place[c.Item] = decision{c.Stub, tokensOf(len(c.Stub)), c.Free}
	}
	maps.Copy(e.decided, mine)
}

func (e *engine) at(place key) map[key]decision {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.decided[place]
}

// rewrite returns the request to send. With decide false it makes no new decisions, as for requests that
// only count tokens.
func (e *engine) rewrite(ctx context.Context, c *conversation, client string, decide bool) (outcome, error) {
	if err := e.load(ctx); err != nil {
		return outcome{}, err
	}
	w := e.walk(c)
	expired := decide && e.expired(c)
	last := len(c.turns) - 1
	for i := range c.turns {
		if i == last && decide && w.asks() {
			w.prune(ctx)
		}
		w.turn(i)
		if i < last {
			w.apply(i)
		}
	}
	if w.asks() {
		if err := w.decide(ctx, client, expired, decide); err != nil {
			return outcome{}, err
		}
	}
	return w.outcome(), nil
}

// expired reports whether the provider's cache has expired since the session's last request.
func (e *engine) expired(c *conversation) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	now := e.now()
	before, known := e.seen[c.session]
	e.seen[c.session] = now
	if len(e.seen) > maxSettled {
		e.seen = map[string]time.Time{c.session: now}
	}
	if !known || now.Sub(before) <= 6*time.Minute {
		return false
	}
	return now.Sub(before) > 61*time.Minute || !c.cachedForAnHour()
}

// walk processes a conversation in the order in which it happened.
type walk struct {
	*engine
	*conversation
	places  []key
	session *planner.Session
	shown   []*decision // per result, its replacement; nil: none
	pruned  []change    // new results and their replacements
	fresh   int         // number of new decisions
	why     string
}

// walk returns a walk at the beginning of a conversation.
func (e *engine) walk(c *conversation) *walk {
	e.keys.identify(c)
	return &walk{engine: e, conversation: c, places: c.places(), session: planner.NewSession(e.policy), shown: make([]*decision, len(c.results))}
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
		w.session.Text(tokensOf(w.base))
	}
	for _, file := range t.edited {
		w.session.Work(file)
	}
	w.session.Text(tokensOf(t.answer + t.given))
	at := w.at(w.places[i])
	for _, r := range t.results {
		tokens := tokensOf(r.bytes)
		if d, ok := at[r.key]; ok {
			tokens = d.tokens
			w.shown[r.index] = &d
		}
		for _, ch := range w.pruned {
			if ch.result == r {
				tokens = tokensOf(len(ch.write("prn_01234567")))
			}
		}
		file, _, _ := r.use.call.FileRead()
		w.session.Result(tokens, file, r.fixed || w.isPinned(r.key))
	}
}

func (w *walk) isPinned(k key) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.pinned[k]
}

// apply applies the decisions made at the end of a turn, before the model call that followed.
func (w *walk) apply(i int) {
	var clear []int
	free := false
	at := w.at(w.places[i])
	if len(at) > 0 {
		for _, r := range w.results {
			d, ok := at[r.key]
			if !ok || r.turn > i {
				continue
			}
			w.shown[r.index] = &d
			if r.turn < i {
				clear, free = append(clear, r.index), d.free
			}
		}
	}
	w.session.Call(clear, free)
}

// decide clears the results that the planner selects, unless a decision for this place already exists, even
// one to clear nothing.
func (w *walk) decide(ctx context.Context, client string, expired, may bool) error {
	last := len(w.turns) - 1
	place := w.places[last]
	if !may || w.decidedAt(place) {
		w.apply(last)
		return nil
	}
	changes := w.pruned
	if w.clears {
		d := w.policy.Decide(w.session.Window(expired))
		w.why = d.Why
		for _, i := range d.Clear {
			r := w.results[i]
			stub := func(id string) string { return Stub(tokensOf(r.bytes), id) }
			changes = append(changes, change{result: r, write: stub, why: d.Why})
		}
	}
	if len(changes) == 0 {
		w.settle(place)
	} else if err := w.commit(ctx, client, place, changes, expired); err != nil {
		return err
	}
	w.apply(last)
	return nil
}

// decidedAt reports whether there is a decision for a place, even one to clear nothing.
func (w *walk) decidedAt(place key) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.settled[place] || len(w.decided[place]) > 0
}

func (w *walk) settle(place key) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.settled) > maxSettled {
		clear(w.settled)
	}
	w.settled[place] = true
}

// outcome splices the replacements into the body.
func (w *walk) outcome() outcome {
	o := outcome{body: w.body, session: w.conversation.session, fresh: w.fresh, bill: w.session.Bill(), why: w.why}
	var edits []edit
	for i, d := range w.shown {
		if d == nil {
			continue
		}
		r := w.results[i]
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
	w := e.walk(c)
	for i := range c.turns {
		w.turn(i)
		w.apply(i)
	}
	return w.outcome()
}
