// Package planner decides which old tool results to take out of a conversation, and
// when. Taking something out makes the provider's prompt cache useless from there
// on, so it is done in batches, and only when it pays soon. The package knows
// nothing of any API or store: the proxy, the plugins and the replay of recorded
// sessions all decide with it.
package planner

import "fmt"

// Item is one tool result that stands in a conversation.
type Item struct {
	Tokens  int
	At      int    // tokens of the prompt that stand before it
	Call    int    // number of the first model call that was sent it
	Path    string // of the file it shows, "" when it shows none
	Pinned  bool
	Cleared bool // its stub stands there
}

// Window is a conversation as it is about to be sent.
type Window struct {
	Items  []Item
	Tokens int // of the whole prompt
	Call   int // number of this model call in the session, from 1

	Edited map[string]int // for each edited file, the last call that edited it
	Bill   float64        // what the session's input would have cost so far without clearing
	Lost   float64        // what clearing has cost so far and not yet saved

	// Expired says that the provider's cache has expired. The whole prompt will be
	// written to it again, whatever is taken out.
	Expired bool
}

// Decision says what to clear, and why.
type Decision struct {
	Clear  []int // indices of items, in order
	Freed  int   // tokens
	Behind int   // tokens behind the first cleared item, which are written to the cache again
	BreakEven
	Why string
}

// Policy holds the numbers of the planner. They were chosen on recorded sessions;
// docs/GC.md has what they save there.
type Policy struct {
	Prices     Prices
	StubTokens int // that stand in the place of a result

	KeepLast  int // results that always stay
	YoungFor  int // calls for which a file stays after it was read: it may be edited
	EditedFor int // calls for which a file stays after it was edited
	MinTokens int // smaller results are not worth a stub

	MinFreed     int // the least that a clearing frees
	MinFreedFree int // the same when the cache has expired and clearing costs nothing
	Horizon      int // calls for which a clearing is expected to save

	// A clearing must pay within MaxPay calls. Should the session end right after it,
	// at most MaxLoss of its bill is lost. Where a clearing pays within SoonPay calls,
	// SoonLoss may be.
	MaxPay   int
	MaxLoss  float64
	SoonPay  int
	SoonLoss float64
}

// DefaultPolicy is the planner's.
func DefaultPolicy() Policy {
	return Policy{
		Prices: DefaultPrices(), StubTokens: 25,
		KeepLast: 3, YoungFor: 11, EditedFor: 6, MinTokens: 40,
		MinFreed: 3000, MinFreedFree: 1000, Horizon: 40,
		MaxPay: 12, MaxLoss: .025, SoonPay: 3, SoonLoss: .15,
	}
}

// Decide plans for one prompt. It is a function of its argument alone.
//
// Whatever is cleared, everything behind it is written to the cache again; so once
// an item goes, every later one that may go does, too. Decide tries each item as the
// first and takes the best of those that are safe.
func (p Policy) Decide(w Window) Decision {
	may := p.may(w)
	var best Decision
	bestNet, freed := 0.0, 0
	for i := len(may) - 1; i >= 0; i-- {
		item := w.Items[may[i]]
		freed += item.Tokens - p.StubTokens
		d := Decision{Clear: may[i:], Freed: freed, Behind: w.Tokens - item.At - freed}
		d.BreakEven = p.Prices.BreakEven(d.Freed, d.Behind)
		if net := p.net(w, d); net > bestNet && p.safe(w, d) {
			best, bestNet = d, net
		}
	}
	best.Why = p.why(w, may, freed, best)
	return best
}

// may returns the indices of the items that may go.
func (p Policy) may(w Window) []int {
	latest := make(map[string]int) // result of each file
	for i, item := range w.Items {
		latest[item.Path] = i
	}
	var all []int
	for i, item := range w.Items[:max(0, len(w.Items)-p.KeepLast)] {
		shown := item.Path != "" && latest[item.Path] == i
		edit, edited := w.Edited[item.Path]
		switch {
		case item.Pinned, item.Cleared, item.Tokens < p.MinTokens:
		case shown && w.Call-item.Call < p.YoungFor:
		case shown && edited && w.Call-edit <= p.EditedFor:
		default:
			all = append(all, i)
		}
	}
	return all
}

// net is what a decision is expected to bring.
func (p Policy) net(w Window, d Decision) float64 {
	saved := d.SavedPerCall * float64(p.Horizon)
	if w.Expired {
		return saved
	}
	return saved - d.Cost
}

// safe says whether a decision frees enough, pays soon, and does little harm should
// the session end at once.
func (p Policy) safe(w Window, d Decision) bool {
	if w.Expired {
		return d.Freed >= p.MinFreedFree
	}
	atStake := w.Lost + d.Cost
	return d.Freed >= p.MinFreed &&
		(d.Calls <= p.MaxPay && atStake <= p.MaxLoss*w.Bill || d.Calls <= p.SoonPay && atStake <= p.SoonLoss*w.Bill)
}

// why explains a decision in one sentence.
func (p Policy) why(w Window, may []int, most int, d Decision) string {
	switch {
	case len(may) == 0:
		return fmt.Sprintf("nothing may go: the last %d results, pinned ones and the files in work stay", p.KeepLast)
	case len(d.Clear) == 0:
		return fmt.Sprintf("%d tokens in %d results may go, but that would not pay within %d calls or is too much to risk", most, len(may), p.MaxPay)
	case w.Expired:
		return fmt.Sprintf("the cache has expired, so clearing %d results with %d tokens costs nothing", len(d.Clear), d.Freed)
	}
	return fmt.Sprintf("clearing %d results frees %d tokens; writing the %d tokens behind them to the cache again pays after %d calls",
		len(d.Clear), d.Freed, d.Behind, d.Calls)
}
