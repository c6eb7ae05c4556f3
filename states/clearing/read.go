package clearing

import (
	"context"
	"fmt"
	"slices"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/recovery"
	"github.com/mcp-pruner/mcp-pruner/states/existing"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc/wire"
	"github.com/mcp-pruner/mcp-pruner/tools/tokens"
)

// walk processes a conversation in the order in which it happened.
type walk struct {
	*Engine
	*wire.Conversation
	calls   []history.ToolCall // by result
	reach   history.Reach
	marks   [][]wire.Key
	heads   map[wire.Key]wire.Key // of the marks that were known before
	history talk
	bill    changes          // what the plan says of the history as it is sent
	items   []int            // by number of an item of the history, the index of its result
	numbers map[int]int      // the other way round
	sizes   []int            // tokens, without clearing, before the turns and at the end of each
	files   map[string]int   // by file, the index of the latest result that showed it
	cleared map[int]bool     // indices of results that were cleared after they had been sent
	edited  map[string]bool  // files that were edited since then
	ids     map[string]bool  // of the results that stubs stand for so far
	returns map[string]int   // how often a text was brought back after it had been cleared, by id or lines of a file
	cold    int              // tokens of the prompt that the cache has, if decide has found less than all that was sent; -1: it has not
	Policy  contextgc.Policy // at the prices of the model and of the lifetime that the client asks for
	model   tokens.Model
	stuck   int                    // tokens of results that nothing leads back to
	modeled bool                   // the model is known
	forced  map[wire.Key]bool      // decisions in force so far
	inForce map[wire.Key]*decision // by result
	open    bool                   // that nothing is decided at the last place may not be stored: another process may decide there
	grown   bool                   // there are decisions that apply has not applied
	head    wire.Key               // the latest decision in force
	at      []wire.Key             // the same, at the end of each turn
	shown   []*decision            // per result, its replacement; nil: none
	indexed bool                   // the index has the id of a cleared result
	pruned  []change               // new results and their replacements
	fresh   int                    // number of new decisions
	pays    int                    // calls after which what the planner decided has paid
	id      [2]uint64              // of the conversation: what stands before the turns, and its first turn
	why     string
	wide    bool // our mark stands at the end of the request before
	mark    int  // index of the block that gets our mark; -1: none
}

// walk returns a walk at the beginning of a conversation.
func (e *Engine) walk(c *wire.Conversation, marks [][]wire.Key, heads map[wire.Key]wire.Key) *walk {
	w := &walk{Engine: e, Conversation: c, calls: make([]history.ToolCall, len(c.Results)), marks: marks, heads: heads,
		Policy: e.Policy, cold: -1, mark: -1, numbers: make(map[int]int), files: make(map[string]int), edited: make(map[string]bool),
		cleared: make(map[int]bool), ids: make(map[string]bool), returns: make(map[string]int), forced: make(map[wire.Key]bool), inForce: make(map[wire.Key]*decision),
		at: make([]wire.Key, len(c.Turns)), shown: make([]*decision, len(c.Results))}
	for i, r := range c.Results {
		w.calls[i] = callOf(r)
	}
	w.Policy.Prices = contextgc.PricesFor(c.Model, c.Signs, c.Life)
	w.model, w.modeled = tokens.ModelOf(c.Model)
	w.history = talk{base: tokens.OfJSON(c.Base), binds: tokens.BindsThinking(c.Model, c.Signs), cached: -1}
	w.history.tool = c.Way == existing.ByHash
	w.sizes = []int{w.history.base}
	w.history.marks = w.Clears && !c.Bare && w.modeled && w.model.Provider == anthropic && !e.Runs.alone.has(c.Owner, c.Session, contextgc.NoMark)
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
	w.mark = w.markAt()
	if decides {
		if err := w.decide(ctx, client); err != nil {
			return err
		}
	}
	if w.asks() {
		w.apply(last)
	}
	w.bill = plan(w.history, w.Policy, false)
	if decide {
		w.settle()
		w.warm.send(w.whose(), w.Prefixes(w.warm.seed, w.texts()), w.id, w.bill.account, w.Now())
	}
	return nil
}

// begin goes on with the account of the conversation that the client compacted, if this is the one after it.
func (w *walk) begin() {
	first := w.Prefixes(w.warm.seed, make([]string, len(w.Results)))
	w.id = [2]uint64{first[0], first[1]}
	w.history.account = w.warm.before(w.whose(), w.id)
}

// whose returns the session, and of whom it is.
func (w *walk) whose() whose { return whose{w.Owner, w.Conversation.Session} }

// asks reports whether the request asks for a new answer, rather than the continuation of one that it
// begins.
func (w *walk) asks() bool {
	t := w.Turns[len(w.Turns)-1]
	return t.Given > 0 || len(t.Results) > 0
}

// turn adds a turn to the history. Results that were pruned when they were new never counted with their
// full size.
func (w *walk) turn(i int) {
	t := w.Turns[i]
	now := turn{begins: w.Begins(i), had: -1}
	for _, u := range t.Uses {
		if kind := history.KindOf(u.Tool); kind == history.Edit || kind == history.Write {
			file := history.ParseCall(u.Tool, u.Args).File
			now.edits = append(now.edits, file)
			w.edited[file] = true
		}
	}
	rest := t.Answer + t.Given
	for _, r := range t.Thoughts {
		rest -= r.Bytes
		if w.model.Thinks || w.history.binds {
			w.add(&now, r, w.thought(r))
		}
	}
	for _, u := range t.Uses {
		if r := u.Wrote; r != nil && w.clearable(r) {
			rest -= r.Bytes
			w.add(&now, r, w.piece(r))
		}
	}
	now.text, now.blocks, now.written = tokens.OfJSON(rest), t.Blocks()-len(t.Thoughts), len(now.items)
	for _, r := range t.Results {
		w.add(&now, r, w.piece(r))
	}
	w.history.turns = append(w.history.turns, now)
	w.sizes = append(w.sizes, w.sizes[len(w.sizes)-1]+now.whole())
}

// clearable reports whether the arguments of a call are large enough to be cleared, and those of a call that wrote a file.
func (w *walk) clearable(r *wire.Result) bool {
	kind := w.calls[r.Index].Kind
	return (kind == history.Edit || kind == history.Write) && w.item(r).Tokens >= contextgc.MinWritten
}

// item returns a result in the form of the planner, as it is when it is whole.
func (w *walk) item(r *wire.Result) contextgc.Item { return w.measured(r).Item }

func (w *walk) measured(r *wire.Result) measured {
	return w.known.of(r, func() measured {
		call, text := w.calls[r.Index], w.Text(r)
		if r.Arguments {
			return measured{Item: existing.Written(call, r.Use.Args, text, tokens.Claude(text))}
		}
		return measured{existing.Item(call, r.Use.Args, text, tokens.Claude(text)), call.Unchanged(text)}
	})
}

// add adds a piece to a turn.
func (w *walk) add(t *turn, r *wire.Result, p piece) {
	w.numbers[r.Index] = len(w.items)
	w.items = append(w.items, r.Index)
	t.items = append(t.items, p)
}

// thought returns a block of thinking as the plan sees it. Of a model that is not known none is left out.
func (w *walk) thought(r *wire.Result) piece {
	item := contextgc.Item{Kind: contextgc.KindThought, Tokens: tokens.OfJSON(r.Bytes), Pinned: r.Fixed || !w.modeled || w.isPinned(r)}
	if _, ok := w.inForce[r.Key]; ok {
		item.Tokens, item.Cleared = w.size(r, 0), true
	}
	return piece{Item: item}
}

// piece returns a result as the plan sees it.
func (w *walk) piece(r *wire.Result) (p piece) {
	item := w.item(r)
	item.Tokens = w.size(r, item.Tokens)
	lost := !leads(w.reach, r, w.calls[r.Index])
	if lost && !r.Fixed {
		w.stuck += item.Tokens
	}
	item.Pinned = r.Fixed || w.bound(r) || lost || w.refers(r)
	p.pinned = w.isPinned(r)
	if text := w.broughtBack(r, item); !r.Arguments && text != "" {
		p.returned, item.Again = true, w.returns[text]
		w.returns[text]++
	}
	if item.Kind == contextgc.KindFile {
		w.files[item.Path] = r.Index
		delete(w.edited, item.Path)
	}
	p.Item = item
	return p
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
	for _, text := range []any{call.Command, call.File, r.Use.Args["id"], r.Use.Args["prune_id"], r.Use.Args["segment_id"]} {
		text, _ := text.(string)
		if id := recovery.IDIn(text); id != "" {
			ids = append(ids, id)
		}
	}
	return ids
}

// size returns the tokens of a result when it was first sent. whole is its size when it is whole.
func (w *walk) size(r *wire.Result, whole int) int {
	if d := w.inForce[r.Key]; d != nil {
		w.shown[r.Index] = d
		w.restore(r, d)
		return d.tokens
	}
	for _, ch := range w.pruned {
		if ch.result == r {
			return tokens.Claude(ch.write("prn_01234567"))
		}
	}
	return whole
}

// bound reports whether a change of a result would make thinking after it invalid that cannot be left out.
func (w *walk) bound(r *wire.Result) bool { return w.history.binds && w.StuckAfter(r) }

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
			d := w.inForce[r.Key]
			if before := w.shown[r.Index]; d == nil || r.Turn > i || before != nil && before.text == d.text {
				continue // a result that was pruned when it was new may be cleared later
			}
			w.shown[r.Index] = d
			w.restore(r, d)
			if number, ok := w.numbers[r.Index]; ok && r.Turn < i {
				w.cleared[r.Index] = true
				clear, free = append(clear, number), d.free
			}
		}
		w.grown = false
		slices.Sort(clear)
	}
	t := &w.history.turns[i]
	t.sent, t.clear, t.had = true, clear, w.had(i, free)
}

// had returns how many tokens of the prompt the cache had at a turn; -1: all. free says that something was cleared there at no cost.
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
	return -1
}

// decide clears what the plan says.
func (w *walk) decide(ctx context.Context, client string) error {
	changes, free := w.pruned, false
	if w.Clears {
		cached := w.cached(ctx)
		if cached < w.sent() {
			w.cold = cached
		}
		w.history.cached = cached
		d := plan(w.history, w.Policy, true)
		w.why, w.pays, free = d.Why, d.Calls, len(d.Clear) > 0 && d.Behind == 0
		for _, i := range d.Clear {
			r := w.Results[w.items[i]]
			changes = append(changes, change{result: r, write: w.stub(r), why: d.Why})
		}
	}
	if len(changes) == 0 {
		return w.stay(ctx)
	}
	return w.commit(ctx, client, changes, free)
}

// sent returns the tokens of the prompt before this one without clearing, all of which the provider's cache has unless it expired.
func (w *walk) sent() int {
	if len(w.Turns) < 2 {
		return 0
	}
	return w.sizes[len(w.Turns)-1]
}

// stub returns a function that writes what stands in a result's place.
func (w *walk) stub(r *wire.Result) func(way string) string {
	return func(way string) string { return existing.StubOf(w.calls[r.Index], r.Use.Args, w.Text(r), way) }
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

// anthropic is the vendor whose requests get a mark of ours.
const anthropic = "Anthropic"

// wide is the number of blocks that a request appends from which our mark stands at the end of the request before: the cache looks
// for that entry from the marks of the client, too, but not so far.
const wide = 15

// markAt returns the index of the block that our mark belongs to: by the history and the decisions before this request alone.
func (w *walk) markAt() int {
	last := len(w.Turns) - 1
	if !w.history.marks || !w.asks() || last == 0 {
		return -1
	}
	if end, appended := w.EndOf(last - 1); appended > wide {
		w.wide = true
		return end
	}
	if n := w.history.frontier(); n >= 0 {
		return w.Before(w.Results[w.items[n]])
	}
	return -1
}

// outcome puts the replacements into the request.
func (w *walk) outcome() Outcome {
	return Outcome{Replaced: w.ReplaceAndMark(w.texts(), w.mark), wide: w.wide, Fresh: w.fresh, Bill: w.bill.account.ClearingBill, Why: w.why, Stuck: w.stuck, Changed: w.cold >= 0,
		place: w.marks[len(w.marks)-1], before: w.bill.before, size: w.bill.size}
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

// cached returns how many tokens of the prompt, counted without clearing, the provider's cache still has. Where that is not
// known it has all of them.
func (w *walk) cached(ctx context.Context) int {
	all, now, life := w.sent(), w.Now(), w.Life+cacheMargin
	if w.Bare {
		return all
	}
	ours := w.warm.latest(w.whose())
	latest := ours
	if now.Sub(ours) > life { // another process may have had a request since
		used, err := w.Store.LastUse(ctx, w.Conversation.Session)
		if err != nil {
			return all
		}
		if used.After(ours) {
			latest = used
		}
	}
	switch {
	case latest.IsZero():
		return all
	case now.Sub(latest) > life:
		return 0
	case latest.After(ours):
		return all
	}
	i := w.warm.longest(w.whose(), w.Prefixes(w.warm.seed, w.texts()), now.Add(-life))
	if i < 0 {
		return 0
	}
	return min(all, w.sizes[i])
}

// enter puts the decisions of a turn's place into force. It reports whether the place is known.
func (w *walk) enter(i int) (known bool) {
	for _, m := range w.marks[i] {
		head, ok := w.heads[m]
		if !ok {
			continue
		}
		known = true
		w.force(head)
	}
	w.at[i] = w.head
	return known
}

// force puts a decision and those before it into force.
func (w *walk) force(head wire.Key) {
	if w.forced[head] {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	newer := make(map[wire.Key]bool) // what a later decision of this call is about
	for k := head; k != (wire.Key{}) && !w.forced[k]; {
		g := w.groups[k]
		if g == nil {
			break // removed from the ledger
		}
		w.forced[k], w.grown = true, true
		for item, d := range g.items {
			if !newer[item] && w.holds(d) {
				newer[item], w.inForce[item] = true, &d
			}
		}
		k = g.parent
	}
	if w.forced[head] {
		w.head = head
	}
}

// mostWhole is the size in tokens of the largest request in which a result comes back when the client took away what leads to it. It fits
// into every window: the request may be the one for a summary, when the window is full.
const mostWhole = 100_000

// holds reports whether a decision holds for the tools of this request. The client changed them, and with them all that the cache had
// and thinking was bound to. Thinking stays away for good.
func (w *walk) holds(d decision) bool {
	return d.text == leftOut || tokens.OfJSON(len(w.Body)) > mostWhole || existing.Leads(d.text, w.reach)
}

// settle records what the places of this history lead to, so that later decisions do not change it. An open place is asked for
// again with the next request.
func (w *walk) settle() {
	heads, marks := make(map[wire.Key]wire.Key), w.marks
	if w.open {
		marks = marks[:len(marks)-1]
	}
	for i, list := range marks {
		for _, m := range list {
			if _, ok := w.heads[m]; !ok {
				heads[m] = w.at[i]
			}
		}
	}
	if len(heads) > 0 {
		w.remember(heads)
	}
}
