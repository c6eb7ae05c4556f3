package contextgc

import (
	"fmt"
	"math"
	"slices"

	"github.com/mcp-pruner/mcp-pruner/tools/terminal"
)

// Item is one piece of a conversation that may be cleared: a tool result, the arguments of a call that wrote a file, or thinking, which
// is left out.
type Item struct {
	Kind    Kind
	Tokens  int
	Stub    int    // tokens of what replaces it
	At      int    // tokens of the prompt before it
	Call    int    // number of the first model call that included it
	Path    string // file it shows or wrote, "" if none
	Pinned  bool
	Cleared bool // it is already replaced by its stub
	Again   int  // how often the model asked for it after it had been cleared
}

// freed returns the tokens that the prompt lacks once an item is cleared.
func (i Item) freed() int { return i.Tokens - i.Stub }

// minItem is the number of tokens from which a result may go.
const minItem = 100

// Stays reports whether an item went already, or never goes.
func (i Item) Stays() bool {
	return i.Cleared || i.Pinned || i.Kind != KindThought && i.Tokens < minItem
}

// Window is a conversation just before it is sent.
type Window struct {
	Items  []Item
	Tokens int // of the whole prompt
	Call   int // number of this model call in the session, from 1
	Turn   int // number of the items before the person's latest words; thinking after them stays

	// Bound says that thinking is bound to what stands before it. Then an item goes only together with all thinking before the person's
	// latest words, and only where none after them follows it.
	Bound bool

	Edited map[string]int // number of the last call that edited each file

	// Cached is the part of the prompt that the provider's cache still has, in tokens from its beginning. What follows is
	// written to it again whether or not anything is cleared.
	Cached  int
	Entries []int // where the entries end that the cache finds after a change, of one that keeps them at marks; nil: any beginning
	Cold    int   // earlier calls that found less than half of their prompts in a cache with marks

	Bill float64 // cost of the session's input so far without clearing, in fresh tokens
	Lost float64 // cost of clearing so far; negative if it has saved more
}

// ClearingDecision lists the items to clear, with the reason.
type ClearingDecision struct {
	Clear  []int // indices of items, ascending
	Freed  int   // tokens
	Behind int   // tokens after the first cleared item that the cache has and that must be written to it again
	BreakEven
	Why string
}

// Policy holds the parameters of the planner. They were chosen on recorded sessions; docs/GC.md says what they save there.
type Policy struct {
	Prices Prices

	KeepLast  int // number of latest items that are never cleared
	MinCalls  int // calls that must have included an item
	YoungFor  int // calls during which the latest result of a file is kept
	AgainFor  int // the same for what the model asked for after it had been cleared; twice as many each further time
	EditedFor int // calls during which the latest result of a file is kept after the file was edited
	MinTokens int // smaller items are never cleared

	MinFreed     int     // minimum tokens freed by a clearing that breaks the cache
	MinFreedOf   float64 // the same as a share of the prompt
	MinFreedFree int     // minimum tokens freed where the cache is written again anyway
	Horizon      int     // calls over which the saving of a clearing is estimated, at most
	MaxPay       int     // calls within which a clearing that breaks the cache must pay off

	// MaxLoss is the part of the session's bill so far that a clearing may put at risk. The risk is that the session ends
	// after Ends times the calls so far, and that it goes on for GoesOn times the calls so far and needs more than was to be
	// expected by Deviations standard deviations.
	MaxLoss    float64
	MaxOnce    float64 // the part that may be lost if the session ends soon and needs one of the cleared items before
	Ends       float64
	GoesOn     float64
	Deviations float64
}

// DefaultPolicy returns the policy of the product.
func DefaultPolicy() Policy {
	return Policy{
		Prices:   DefaultPrices(),
		KeepLast: 2, MinCalls: 2, YoungFor: 2, AgainFor: 4, EditedFor: 3, MinTokens: minItem,
		MinFreed: 3000, MinFreedOf: .15, MinFreedFree: 500, Horizon: 100, MaxPay: 10,
		MaxLoss: .02, MaxOnce: .03, Ends: .1, GoesOn: 1.5, Deviations: 1,
	}
}

// Decide plans for one prompt. Its result depends on its argument and the policy only.
//
// What follows a cleared item is written to the cache again. So once an item is cleared, every later item is cleared too whose
// tokens are worth more than the risk that they are needed. Decide tries each item as the first one and returns the best of
// the safe decisions.
func (p Policy) Decide(w Window) ClearingDecision {
	plan := clearingBatch{Policy: p, Window: w, horizon: p.horizon(w), first: w.Tokens}
	plan.Prices = p.Prices.in(w.Tokens)
	may := p.may(w)
	var best ClearingDecision
	bestNet, most := 0.0, 0
	try := func() {
		d := plan.decision()
		gain := plan.gain + plan.cheaper(&d)
		if net := gain - d.Cost; net > bestNet && plan.safe(d) {
			best, bestNet = d, net
			best.Clear = slices.Clone(plan.items)
		}
	}
	if w.Bound && plan.bound(may) {
		try()
	}
	for _, i := range slices.Backward(may) {
		most += w.Items[i].freed()
		if !(w.Bound && w.Items[i].Kind == KindThought) && plan.add(i) {
			try()
		}
	}
	slices.Sort(best.Clear)
	best.Why = p.why(w, may, most, best)
	return best
}

// horizon returns the calls over which a clearing saves: while the cache is warm, those until it will probably be cold, since
// the same clearing is free then. How often that happens is learned from the session.
func (p Policy) horizon(w Window) float64 {
	h := min(float64(p.Horizon), 10+float64(w.Call))
	if 2*w.Cached > w.Tokens {
		h = min(h, (float64(w.Call)+coldPriorCalls)/(float64(w.Cold)+coldPrior))
	}
	return h
}

// A new session is taken to have had coldPrior cold calls of coldPriorCalls.
const (
	coldPrior      = .3
	coldPriorCalls = 30
)

// may returns the indices of the items that may be cleared.
func (p Policy) may(w Window) []int {
	latest := make(map[string]int) // latest item of each file
	for i, item := range w.Items {
		latest[item.Path] = i
	}
	kept, last := w.kept(), w.last(p.KeepLast)
	var all []int
	for i, item := range w.Items {
		age := w.Call - item.Call
		shown := item.Path != "" && latest[item.Path] == i
		edit, edited := w.Edited[item.Path]
		switch {
		case item.Pinned, item.Cleared, w.Bound && i < kept:
		case item.Kind == KindThought:
			if i < w.Turn && (!w.Bound || kept < 0) {
				all = append(all, i)
			}
		case i >= last, item.Tokens < p.MinTokens, age < p.MinCalls:
		case age < p.againFor(item), shown && age < p.YoungFor:
		case shown && edited && w.Call-edit <= p.EditedFor:
		default:
			all = append(all, i)
		}
	}
	return all
}

// kept returns the index of the last thinking if some cannot go, so that bound thinking keeps what stands before it; else -1.
func (w Window) kept() int {
	last, stays := -1, false
	for i, item := range w.Items {
		if item.Kind == KindThought && !item.Cleared {
			last, stays = i, stays || i >= w.Turn || item.Pinned
		}
	}
	if !stays {
		return -1
	}
	return last
}

// last returns the index of the last n results.
func (w Window) last(n int) (i int) {
	for i = len(w.Items); i > 0 && n > 0; i-- {
		if w.Items[i-1].Kind != KindThought {
			n--
		}
	}
	return i
}

// againFor returns the calls during which an item stays that the model asked for after it had been cleared. They double with each
// return, so that a text which is in use is not cleared and fetched in turns.
func (p Policy) againFor(item Item) int {
	if item.Again == 0 {
		return 0
	}
	return p.AgainFor << min(item.Again-1, 16)
}

// bound adds the thinking that goes with whatever goes, if there is any.
func (b *clearingBatch) bound(may []int) bool {
	for _, i := range may {
		if b.Items[i].Kind == KindThought {
			b.take(i)
		}
	}
	return len(b.items) > 0
}

// clearingBatch is a growing set of items to clear, from the last one to the first.
type clearingBatch struct {
	Policy
	Window
	horizon float64

	items    []int
	first    int     // tokens of the prompt before the first item
	freed    int     // tokens
	warm     int     // tokens of the items in the cache
	gain     float64 // expected
	now      float64 // what the next call saves
	needed   float64 // expected number of items that the model needs again
	again    float64 // expected price of their tokens
	variance float64
}

// add adds an item if clearing it is worth the risk.
func (b *clearingBatch) add(i int) bool {
	before := *b
	if b.take(i) <= 0 {
		*b = before
		return false
	}
	return true
}

// take adds an item and returns its worth.
func (b *clearingBatch) take(i int) (value float64) {
	item := b.Items[i]
	saved := float64(item.freed())
	price := b.Prices.Read // of the next call
	if item.At >= b.Cached {
		price = b.Prices.Write
	}
	need, tokens := b.need(item), float64(item.Tokens)*b.Prices.again(item)
	full := turnShare*b.turn() + tokens
	value = saved*(price+b.Prices.Read*b.horizon) - need*full
	b.items, b.first = append(b.items, i), min(b.first, item.At)
	b.freed += item.freed()
	if item.At < b.Cached {
		b.warm += item.Tokens
	} else {
		b.now += saved * price
	}
	b.gain += value
	b.needed += need
	b.again += need * tokens
	b.variance += need * (1 - need) * full * full
	return value
}

// again returns the price of a token of an item that is needed again: what was thought is thought again.
func (p Prices) again(item Item) float64 {
	if item.Kind == KindThought {
		return p.Output
	}
	return p.Write
}

// turn returns the cost of a turn in which the model asks for items again.
func (b *clearingBatch) turn() float64 {
	return float64(b.Tokens)*b.Prices.Read + replyTokens*b.Prices.Output
}

// turnShare is the part of a turn that a needed item costs, because one turn may ask for several. Of very many items maxTurns
// are expected at most.
const (
	turnShare = .7
	maxTurns  = 4
)

func (b *clearingBatch) decision() ClearingDecision {
	d := ClearingDecision{Freed: b.freed}
	if b.first < b.Cached {
		d.Behind = max(0, b.Cached-entryBefore(b.Entries, b.first)-b.warm)
	}
	d.BreakEven = b.Prices.BreakEven(d.Freed, d.Behind)
	return d
}

// cheaper adds to a decision that the prompt gets into a cheaper band, and returns what that saves over the calls until it has grown out
// of it again.
func (b *clearingBatch) cheaper(d *ClearingDecision) (saved float64) {
	left := b.Tokens - b.freed
	now, _ := b.Prices.at(b.Tokens)
	then, _ := b.Prices.at(left)
	if then == now {
		return 0
	}
	part := 1 - then/now
	calls := min(b.horizon, float64(b.Prices.room(left))*float64(b.Call)/float64(b.Tokens))
	kept := max(0, b.Cached-b.warm-d.Behind)
	d.Cost = max(0, d.Cost-part*(float64(kept)*b.Prices.Read+float64(left-kept)*b.Prices.Write))
	each := part * float64(left) * b.Prices.Read
	d.SavedPerCall += each * min(1, calls/mostCalls)
	d.Calls = int(math.Ceil(d.Cost / d.SavedPerCall))
	return each * calls
}

// mostCalls is the number of calls for which a session is taken to go on at most, at least.
const mostCalls = 10

// safe reports whether a decision frees enough, soon pays off, and puts little at risk.
func (b *clearingBatch) safe(d ClearingDecision) bool {
	free := max(b.MinFreed, int(b.MinFreedOf*float64(b.Tokens)))
	if d.Behind == 0 {
		free = b.MinFreedFree
	}
	turns := maxTurns * (1 - math.Exp(-b.needed/maxTurns))
	risk := b.again + turns*turnShare*b.turn() + b.Deviations*math.Sqrt(b.variance*turns/b.needed)
	atStake, most := b.Lost+d.Cost-b.now, b.MaxLoss*b.Bill
	ends := min(mostCalls, b.Ends*float64(b.Call))
	once := b.turn() + b.again/b.needed
	goesOn := min(b.GoesOn*float64(b.Call), float64(b.Horizon)/2)
	return d.Freed >= free && d.Calls <= b.MaxPay && atStake-ends*d.SavedPerCall <= most &&
		atStake+once-ends*d.SavedPerCall <= b.MaxOnce*b.Bill && atStake+risk-goesOn*d.SavedPerCall <= most
}

// why explains a decision in one sentence.
func (p Policy) why(w Window, may []int, most int, d ClearingDecision) string {
	switch {
	case len(may) == 0:
		return fmt.Sprintf("nothing may go: the last %d results, pinned ones and the files in work stay", p.KeepLast)
	case len(d.Clear) == 0:
		return fmt.Sprintf("%s tokens in %d results may go, but that would not pay within %d calls or is too much to risk", terminal.Grouped(most), len(may), p.MaxPay)
	case d.Behind == 0:
		return fmt.Sprintf("the cache is written again anyway, so clearing %s with %s tokens costs nothing", w.named(d), terminal.Grouped(d.Freed))
	}
	return fmt.Sprintf("clearing %s frees %s tokens; writing the %s tokens behind them to the cache again pays after %s",
		w.named(d), terminal.Grouped(d.Freed), terminal.Grouped(d.Behind), terminal.Count(d.Calls, "call"))
}

func (w Window) named(d ClearingDecision) string {
	thoughts := 0
	for _, i := range d.Clear {
		if w.Items[i].Kind == KindThought {
			thoughts++
		}
	}
	if thoughts == 0 {
		return fmt.Sprintf("%d results", len(d.Clear))
	}
	return fmt.Sprintf("%d results and %d blocks of earlier thinking", len(d.Clear)-thoughts, thoughts)
}
