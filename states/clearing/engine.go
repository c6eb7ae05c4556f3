// Package clearing replaces tool results in the requests of an agent to its model: old ones that the planner cleared by
// stubs, and new ones by their pruned texts. The proxy and the plugin of opencode share it.
package clearing

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/recovery"
	"github.com/mcp-pruner/mcp-pruner/states/existing"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc/wire"
	"github.com/mcp-pruner/mcp-pruner/tools/tokens"
)

// Engine decides what replaces the results in a request. Decisions are held in memory and in the store. They are stored
// before they are applied, so that a restarted proxy sends the same bytes. Its first fields are to be set before its use.
type Engine struct {
	Store   contextgc.Ledger
	Index   Index
	Printed recovery.Printed // what agents of this machine have brought back, which is not pruned
	Machine existing.Machine // through which replaced results go; Client, Session and Keep are not used
	Runs    *Runs
	Back    func(client string) string // the command that recovers a text, without the id; nil: existing.DefaultBack
	Policy  contextgc.Policy
	Clears  bool // clears old results
	Prunes  bool // prunes new results
	Others  history.OtherTools
	Now     func() time.Time
	Report  func(error)   // told once that the ledger is lost; nil: nobody
	SyncLog func()        // waits, for a bounded time, until all events so far are written; nil: nothing to wait for
	Hurry   time.Duration // how long a request waits until it is stored that nothing is decided; 0: 250 ms

	keys     wire.Keyring
	known    sizes
	warm     warmth
	lost     atomic.Bool
	deciding [1024]sync.Mutex // by mark: one history that several requests have at once is decided by one of them
	flushing sync.Mutex       // held by Flush

	mu       sync.Mutex
	groups   map[wire.Key]*group   // decisions, by id
	heads    map[wire.Key]wire.Key // by mark
	unstored map[wire.Key]wire.Key // heads that are not in the store yet
	loaded   int64                 // number of the last decision loaded from the store
	stored   int64                 // how many decisions up to it the store had
	since    int                   // how many this process has stored since then
	pinned   map[[32]byte]bool
	looked   time.Time // time of the latest check of the store for other processes' decisions
}

// decision is the text that replaces a result.
type decision struct {
	text   string
	tokens int
	free   bool
}

// change is a planned replacement of a result.
type change struct {
	result  *wire.Result
	write   func(id string) string // returns the replacement, which names the original by its id
	segment string                 // of the ledger, with the original
	id      string                 // by which the agent recovers the original
	why     string
}

// Outcome is the rewritten request and its statistics.
type Outcome struct {
	wire.Replaced
	Fresh int // number of results whose replacement was decided in this request
	Bill  contextgc.ClearingBill
	Why   string
	Stuck int // tokens of results that stay because the agent has no tool that would bring them back

	Changed bool // the cache seemed not to have all that the session had sent

	place  []wire.Key // marks of the place at which the request was made
	before int        // tokens of the prompt before this one, as it was sent
	size   int        // tokens of this one
}

// ErrLost means that the ledger was removed or replaced. The ids in the stubs then lead nowhere.
var ErrLost = errors.New("the ledger was removed or replaced while the proxy runs")

// Load reads other processes' decisions from the store, at most once per second. It returns ErrLost from the moment on
// at which the ledger was found to be lost.
func (e *Engine) Load(ctx context.Context) error {
	if e.lost.Load() || e.Store.Lost() {
		e.forget()
		return ErrLost
	}
	e.mu.Lock()
	fresh := e.groups != nil && e.Now().Sub(e.looked) < time.Second
	e.mu.Unlock()
	if fresh {
		return nil
	}
	return e.reload(ctx)
}

// forget drops every decision, because their originals are in the requests only.
func (e *Engine) forget() {
	if e.lost.Swap(true) {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.groups, e.heads, e.unstored = make(map[wire.Key]*group), make(map[wire.Key]wire.Key), make(map[wire.Key]wire.Key)
	if e.Report != nil {
		e.Report(e.Lost())
	}
}

// Lost returns the error that the ledger is lost, with its name.
func (e *Engine) Lost() error {
	return fmt.Errorf("%w (%s): results are sent whole", ErrLost, e.Store.Name())
}

// ready reads what other processes have stored.
func (e *Engine) ready(ctx context.Context) error {
	if err := e.Load(ctx); err != nil {
		return err
	}
	return e.Runs.alone.read(ctx, e.Store, e.Now())
}

func (e *Engine) reload(ctx context.Context) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.groups == nil { // a start reads no decision: lookup does, when a history needs one
		last, err := e.Store.Last(ctx)
		if err != nil {
			return err
		}
		if e.stored, err = e.Store.Count(ctx, last); err != nil {
			return err
		}
		e.loaded = last
	}
	list, last, pinned, err := e.Store.Clearings(ctx, e.loaded)
	if err != nil {
		return err
	}
	if e.groups == nil {
		e.groups, e.heads, e.unstored = make(map[wire.Key]*group), make(map[wire.Key]wire.Key), make(map[wire.Key]wire.Key)
	}
	n, err := e.Store.Count(ctx, last)
	if err != nil {
		return err
	}
	if n < e.stored+int64(max(len(list), e.since)) { // the ledger was cleaned: stubs of what is gone would lead nowhere; lookup reads the rest again
		e.groups, e.heads = make(map[wire.Key]*group), make(map[wire.Key]wire.Key)
	}
	e.loaded, e.stored, e.since, e.pinned, e.looked = last, n, 0, pinned, e.Now()
	e.learn(list)
	return nil
}

// Rewrite returns the request to send. With decide false it makes no new decisions, as for requests that
// only count tokens.
func (e *Engine) Rewrite(ctx context.Context, c *wire.Conversation, client string, decide bool) (Outcome, error) {
	if err := e.ready(ctx); err != nil {
		return Outcome{}, err
	}
	if e.Runs.alone.has(ctx, c.Session) {
		return Outcome{Replaced: c.Replace(nil)}, nil
	}
	c.Owner = agent.SubjectOf(ctx)
	e.keys.Identify(c)
	marks := c.Marks()
	if here := marks[len(marks)-1]; decide && len(here) > 0 {
		lock := &e.deciding[binary.BigEndian.Uint16(here[0][:])%uint16(len(e.deciding))]
		lock.Lock()
		defer lock.Unlock()
	}
	e.warm.begin()
	for {
		heads, err := e.lookup(ctx, marks)
		if err != nil {
			return Outcome{}, err
		}
		w := e.walk(c, marks, heads)
		err = w.all(ctx, client, decide)
		if errors.Is(err, contextgc.ErrDecided) {
			if err = e.reload(ctx); err == nil {
				continue // by another process
			}
		}
		return w.outcome(), err
	}
}

// walk processes a conversation in the order in which it happened.
type walk struct {
	*Engine
	*wire.Conversation
	calls   []history.ToolCall // by result
	reach   history.Reach
	marks   [][]wire.Key
	heads   map[wire.Key]wire.Key // of the marks that were known before
	session *contextgc.Planner
	items   []int                 // by number of an item of the session, the index of its result
	numbers map[int]int           // the other way round
	sizes   []int                 // tokens, without clearing, before the turns and at the end of each
	files   map[string]int        // by file, the index of the latest result that showed it
	cleared map[int]bool          // indices of results that were cleared after they had been sent
	edited  map[string]bool       // files that were edited since then
	ids     map[string]bool       // of the results that stubs stand for so far
	returns map[string]int        // how often a text was brought back after it had been cleared, by id or lines of a file
	before  int                   // tokens of the prompt before the last one, as it was sent
	cold    int                   // tokens of the prompt that the cache has, if decide has found less than all that was sent; -1: it has not
	Policy  contextgc.Policy      // at the prices of the model and of the lifetime that the client asks for
	binds   bool                  // the model's thinking is bound to what stands before it
	stuck   int                   // tokens of results that nothing leads back to
	forced  map[wire.Key]bool     // decisions in force so far
	inForce map[wire.Key]decision // by result
	open    bool                  // that nothing is decided at the last place may not be stored: another process may decide there
	grown   bool                  // there are decisions that apply has not applied
	head    wire.Key              // the latest decision in force
	at      []wire.Key            // the same, at the end of each turn
	shown   []*decision           // per result, its replacement; nil: none
	pruned  []change              // new results and their replacements
	fresh   int                   // number of new decisions
	pays    int                   // calls after which what the planner decided has paid
	id      [2]uint64             // of the conversation: what stands before the turns, and its first turn
	why     string
}

// walk returns a walk at the beginning of a conversation.
func (e *Engine) walk(c *wire.Conversation, marks [][]wire.Key, heads map[wire.Key]wire.Key) *walk {
	w := &walk{Engine: e, Conversation: c, calls: make([]history.ToolCall, len(c.Results)), marks: marks, heads: heads,
		Policy: e.Policy, cold: -1, numbers: make(map[int]int), files: make(map[string]int), edited: make(map[string]bool),
		cleared: make(map[int]bool), ids: make(map[string]bool), returns: make(map[string]int), forced: make(map[wire.Key]bool), inForce: make(map[wire.Key]decision),
		at: make([]wire.Key, len(c.Turns)), shown: make([]*decision, len(c.Results))}
	for i, r := range c.Results {
		w.calls[i] = callOf(r)
	}
	w.Policy.Prices = contextgc.PricesFor(c.Model, c.Signs, c.Life)
	w.session = contextgc.NewPlanner(w.Policy)
	w.binds = tokens.BindsThinking(c.Model, c.Signs)
	w.reach = reachOf(c, w.remote())
	return w
}

// callOf returns the call that a result answers, in client-independent form.
func callOf(r *wire.Result) history.ToolCall { return history.ParseCall(r.Use.Tool, r.Use.Args) }

// all walks through every turn and decides at the last one.
func (w *walk) all(ctx context.Context, client string, decide bool) error {
	last := len(w.Turns) - 1
	w.begin()
	for i := range w.Turns[:last] {
		w.enter(i)
		w.turn(i)
		w.apply(i)
	}
	known := w.enter(last)
	decides := decide && !known && w.asks() && (!w.remote() && !w.Bare || w.reach.Recovers() || w.reach.Files) // else nothing would lead back
	if decides {
		w.prune(ctx)
	}
	w.turn(last)
	if decides {
		if err := w.decide(ctx, client); err != nil {
			return err
		}
	}
	w.before = w.session.Shown()
	if w.asks() {
		w.apply(last)
	}
	if decide {
		w.settle()
		w.warm.keep(w.Conversation.Session, w.id, w.session.Account())
		if w.cold >= 0 {
			w.warm.found(w.marks[last], w.cold)
		}
		w.warm.send(w.Conversation.Session, w.Prefixes(w.warm.seed, w.texts()), w.Now())
	}
	return nil
}

// begin goes on with the account of the conversation that the client compacted, if this is the one after it.
func (w *walk) begin() {
	first := w.Prefixes(w.warm.seed, make([]string, len(w.Results)))
	w.id = [2]uint64{first[0], first[1]}
	w.session.Continue(w.warm.before(w.Conversation.Session, w.id))
}

// asks reports whether the request asks for a new answer, rather than the continuation of one that it
// begins.
func (w *walk) asks() bool {
	t := w.Turns[len(w.Turns)-1]
	return t.Given > 0 || len(t.Results) > 0
}

// turn adds a turn to the session. Results that were pruned when they were new never counted with their
// full size.
func (w *walk) turn(i int) {
	t := w.Turns[i]
	if i == 0 {
		w.session.Base(w.base())
		w.sizes = append(w.sizes, w.base())
	}
	for _, u := range t.Uses {
		if kind := history.KindOf(u.Tool); kind == history.Edit || kind == history.Write {
			file := history.ParseCall(u.Tool, u.Args).File
			w.session.Work(file)
			w.edited[file] = true
		}
	}
	rest := t.Answer + t.Given
	for _, u := range t.Uses {
		if r := u.Wrote; r != nil && w.clearable(r) {
			rest -= r.Bytes
			w.add(r)
		}
	}
	w.session.Text(tokens.OfJSON(rest), t.Blocks())
	for _, r := range t.Results {
		w.add(r)
	}
	w.sizes = append(w.sizes, w.session.Size())
}

// clearable reports whether the arguments of a call are large enough to be cleared, and those of a call that wrote a file.
func (w *walk) clearable(r *wire.Result) bool {
	kind := w.calls[r.Index].Kind
	return (kind == history.Edit || kind == history.Write) && w.item(r).Tokens >= contextgc.MinWritten
}

// item returns a result in the form of the planner, as it is when it is whole.
func (w *walk) item(r *wire.Result) contextgc.Item {
	return w.known.of(r, func() contextgc.Item {
		call, text := w.calls[r.Index], w.Text(r)
		if r.Arguments {
			return existing.Written(call, r.Use.Args, text, tokens.Claude(text))
		}
		return existing.Item(call, r.Use.Args, text, tokens.Claude(text))
	})
}

func (w *walk) add(r *wire.Result) {
	item := w.item(r)
	item.Tokens = w.size(r, item.Tokens)
	lost := !leads(w.reach, r, w.calls[r.Index])
	if lost && !r.Fixed {
		w.stuck += item.Tokens
	}
	item.Pinned = r.Fixed || w.bound(r) || lost || w.refers(r) || w.isPinned(r)
	add := w.session.Add
	if text := w.broughtBack(r, item); !r.Arguments && text != "" {
		add, item.Again = w.session.AddAgain, w.returns[text]
		w.returns[text]++
	}
	if item.Kind == contextgc.KindFile {
		w.files[item.Path] = r.Index
		delete(w.edited, item.Path)
	}
	w.numbers[r.Index] = add(item)
	w.items = append(w.items, r.Index)
}

// broughtBack returns a name of the text that a result is if the model asked for it because it had been cleared: by its id, or by
// reading the same lines of the file again, unless the file was edited since then; "" for any other result.
func (w *walk) broughtBack(r *wire.Result, item contextgc.Item) string {
	call, ids := w.calls[r.Index], w.named(r)
	if i := slices.IndexFunc(ids, func(id string) bool { return w.ids[id] }); i >= 0 {
		return ids[i]
	}
	before, read := w.files[item.Path]
	if read && w.cleared[before] && !w.edited[item.Path] && w.calls[before].Offset == call.Offset && w.calls[before].Limit == call.Limit {
		return fmt.Sprintf("%s:%d:%d", item.Path, call.Offset, call.Limit)
	}
	return ""
}

// named returns the ids of originals that a call names.
func (w *walk) named(r *wire.Result) (ids []string) {
	call := w.calls[r.Index]
	id, _ := r.Use.Args["id"].(string)
	given, _ := r.Use.Args["prune_id"].(string)
	for _, text := range []string{call.Command, call.File, id, given} {
		if id := recovery.IDIn(text); id != "" {
			ids = append(ids, id)
		}
	}
	return ids
}

// size returns the tokens of a result when it was first sent. whole is its size when it is whole.
func (w *walk) size(r *wire.Result, whole int) int {
	if d, ok := w.inForce[r.Key]; ok {
		w.shown[r.Index] = &d
		w.ids[recovery.IDIn(d.text)] = true
		return d.tokens
	}
	for _, ch := range w.pruned {
		if ch.result == r {
			return tokens.Claude(ch.write("prn_01234567"))
		}
	}
	return whole
}

// bound reports whether a change of a result would make the thinking after it invalid. A decision in force changes nothing any
// more: the thinking after it was thought after the replacement, or is lost already.
func (w *walk) bound(r *wire.Result) bool { return w.binds && w.ThoughtAfter(r) }

// isPinned reports whether a result is pinned, as the proxy or as a hook stored it.
func (w *walk) isPinned(r *wire.Result) bool {
	hooks := contextgc.CallKey(w.Conversation.Session, r.ID)
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.pinned[r.Key] || hooks != nil && !r.Arguments && w.pinned[[32]byte(hooks)]
}

// apply applies the decisions in force at the end of a turn, before the model call that followed.
func (w *walk) apply(i int) {
	var clear []int
	free := false
	if w.grown {
		for _, r := range w.Results {
			d, ok := w.inForce[r.Key]
			if before := w.shown[r.Index]; !ok || r.Turn > i || before != nil && before.text == d.text {
				continue // a result that was pruned when it was new may be cleared later
			}
			w.shown[r.Index] = &d
			w.ids[recovery.IDIn(d.text)] = true
			if number, ok := w.numbers[r.Index]; ok && r.Turn < i {
				w.cleared[r.Index] = true
				clear, free = append(clear, number), d.free
			}
		}
		w.grown = false
		slices.Sort(clear)
	}
	w.session.Call(clear, w.had(i, free))
}

// had returns how many tokens of the prompt the cache had at a turn. free says that something was cleared there at no cost.
func (w *walk) had(turn int, free bool) int {
	cold := w.cold
	if turn < len(w.Turns)-1 {
		cold = w.warm.at(w.marks[turn])
	}
	switch {
	case cold >= 0:
		return cold
	case free:
		return 0 // an earlier process found it
	}
	return w.session.Sent()
}

// decide clears the results that the planner selects.
func (w *walk) decide(ctx context.Context, client string) error {
	changes, free := w.pruned, false
	if w.Clears {
		cached := w.cached(ctx)
		if cached < w.session.Sent() {
			w.cold = cached
		}
		d := w.Policy.Decide(w.session.Window(cached))
		w.why, w.pays, free = d.Why, d.Calls, len(d.Clear) > 0 && d.Behind == 0
		for _, i := range d.Clear {
			r := w.Results[w.items[i]]
			changes = append(changes, change{result: r, write: func(way string) string { return existing.StubOf(w.calls[r.Index], r.Use.Args, w.Text(r), way) }, why: d.Why})
		}
	}
	if len(changes) == 0 {
		return w.stay(ctx)
	}
	return w.commit(ctx, client, changes, free)
}

// remote reports whether the agent is on another machine than the commands of this program: it was authenticated, and its
// originals are in a database.
func (w *walk) remote() bool { return w.Owner != "" && w.Store.Shared() }

// wayBack returns how a client's agent gets a text back, without the id.
func (w *walk) wayBack(client string) string {
	return existing.BackOf(w.reach, func() string {
		if w.Back == nil {
			return existing.DefaultBack
		}
		return w.Back(client)
	})
}

// outcome puts the replacements into the request.
func (w *walk) outcome() Outcome {
	return Outcome{Replaced: w.Replace(w.texts()), Fresh: w.fresh, Bill: w.session.Bill(), Why: w.why, Stuck: w.stuck, Changed: w.cold >= 0,
		place: w.marks[len(w.marks)-1], before: w.before, size: w.session.Shown()}
}

// texts returns the texts that replace results, by index.
func (w *walk) texts() []string {
	texts := make([]string, len(w.Results))
	for i, d := range w.shown {
		if d != nil {
			texts[i] = d.text
		}
	}
	return texts
}

// stayWithin is Hurry, unless it is set.
const stayWithin = 250 * time.Millisecond

// Known is Rewrite for a store that takes nothing: it applies earlier decisions and makes no new ones. Those that this process has
// not read yet it reads, which a lock does not prevent, but does not wait for long.
func (e *Engine) Known(ctx context.Context, c *wire.Conversation) Outcome {
	short, cancel := context.WithTimeout(ctx, cmp.Or(e.Hurry, stayWithin))
	defer cancel()
	err := e.ready(short)
	if e.Runs.alone.has(ctx, c.Session) {
		return Outcome{Replaced: c.Replace(nil)}
	}
	c.Owner = agent.SubjectOf(ctx)
	e.keys.Identify(c)
	marks := c.Marks()
	heads, _ := e.recall(marks)
	if err == nil {
		if all, err := e.lookup(short, marks); err == nil {
			heads = all
		}
	}
	w := e.walk(c, marks, heads)
	for i := range c.Turns {
		w.enter(i)
		w.turn(i)
		w.apply(i)
	}
	return w.outcome()
}
