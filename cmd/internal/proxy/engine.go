package proxy

import (
	"bytes"
	"context"
	"maps"
	"sync"
	"time"

	"mcp-pruner/tools/contextgc"
	"mcp-pruner/tools/contextgc/planner"
)

// engine decides what a request shows in the place of its results. Decisions are in
// memory and in the store; they are stored before they are used.
type engine struct {
	store   *contextgc.Store
	policy  planner.Policy
	clears  bool // old results
	prunes  bool // fresh ones
	replace replacer
	now     func() time.Time

	mu      sync.Mutex
	decided map[key]map[key]decision // by place, then by result
	loaded  int64                    // number of the last decision read from the store
	settled map[key]bool             // places at which nothing was to be cleared
	seen    map[string]time.Time     // the last request of each session
	pinned  map[[32]byte]bool
	looked  time.Time // when the store was last asked for what others decided
}

// decision is a text that stands in the place of a result.
type decision struct {
	text   string
	tokens int
	free   bool
}

// replacer takes results through the request machine, with texts to put in their
// places. It returns the texts of those that came out replaced, by index.
type replacer func(ctx context.Context, c *conversation, client string, change []change) (map[int]string, error)

// change is a result that is to be replaced.
type change struct {
	result  *result
	text    string
	segment string // where the original is
	why     string
}

// outcome is what became of a request.
type outcome struct {
	body    []byte
	session string
	before  int // bytes of the results replaced
	after   int // bytes of what stands in their places
	cleared int // results replaced
	fresh   int // of them, decided just now
	bill    planner.Bill
	why     string
}

const maxSettled = 100_000

// bytesPerToken is an estimate for code and prose as they stand in JSON.
const bytesPerToken = 3.6

func tokensOf(bytes int) int { return int(float64(bytes) / bytesPerToken) }

// load reads what was decided by others, at most once a second.
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

// learn takes decisions over from the store. A place's decisions are read without a
// lock, so they are replaced and never changed.
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

// rewrite returns the request as it is to be sent. decide is false where nothing new
// may be decided: when tokens are only counted.
func (e *engine) rewrite(ctx context.Context, c *conversation, client string, decide bool) (outcome, error) {
	if err := e.load(ctx); err != nil {
		return outcome{}, err
	}
	w := &walk{engine: e, conversation: c, places: c.places(), session: planner.NewSession(e.policy), shown: make([]*decision, len(c.results))}
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

// expired says whether the provider's cache has expired since the session's last
// request.
func (e *engine) expired(c *conversation) bool {
	lives := 6 * time.Minute
	if bytes.Contains(c.body, []byte(`"ttl":"1h"`)) {
		lives = 61 * time.Minute
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	now := e.now()
	before, known := e.seen[c.session]
	e.seen[c.session] = now
	if len(e.seen) > maxSettled {
		e.seen = map[string]time.Time{c.session: now}
	}
	return known && now.Sub(before) > lives
}

// walk goes through a conversation as it happened.
type walk struct {
	*engine
	*conversation
	places  []key
	session *planner.Session
	shown   []*decision // for each result, what stands in its place; nil: itself
	pruned  []change    // fresh results, and what is to stand in their places
	fresh   int         // decisions made just now
	why     string
}

// asks says whether the request asks for an answer to something, and is not the
// beginning of one that is to be continued.
func (w *walk) asks() bool {
	t := w.turns[len(w.turns)-1]
	return t.given > 0 || len(t.results) > 0
}

// turn adds a turn to the session. Results that were pruned when they were fresh
// never stood there whole.
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
				tokens = tokensOf(len(ch.text))
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

// apply shows what was decided at the end of a turn, before the call that followed.
func (w *walk) apply(i int) bool {
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
	return len(clear) > 0
}

// decide clears what the planner says, unless something was decided at this place
// before, or that nothing is to be cleared.
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
			changes = append(changes, change{result: w.results[i], why: d.Why})
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

// decidedAt says whether it was decided what happens at a place, be it nothing.
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

// outcome splices what is shown into the body.
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

// known is rewrite without the store: what was decided before is shown, and nothing
// new is decided.
func (e *engine) known(c *conversation) (outcome, error) {
	w := &walk{engine: e, conversation: c, places: c.places(), session: planner.NewSession(e.policy), shown: make([]*decision, len(c.results))}
	for i := range c.turns {
		w.turn(i)
		w.apply(i)
	}
	return w.outcome(), nil
}
