// Package planner decides which old tool results to clear from a conversation, and when.
// Clearing a result invalidates the provider's prompt cache from that point on, so results
// are cleared in batches, and only if that soon pays off. The package knows no API and no
// store: the proxy, the plugins and the replay of recorded sessions share it.
package planner

import "fmt"

// Item is one tool result in a conversation.
type Item struct {
	Tokens  int
	At      int    // tokens of the prompt before it
	Call    int    // number of the first model call that included it
	Path    string // file it shows, "" if none
	Pinned  bool
	Cleared bool // it is already replaced by its stub
}

// Window is a conversation just before it is sent.
type Window struct {
	Items  []Item
	Tokens int // of the whole prompt
	Call   int // number of this model call in the session, from 1

	Edited map[string]int // number of the last call that edited each file
	Bill   float64        // cost of the session's input so far without clearing, in fresh tokens
	Lost   float64        // cost of clearing so far that has not been saved yet

	// Expired says that the provider's cache has expired, so that the whole prompt will be
	// written to it again whether or not anything is cleared.
	Expired bool
}

// Decision lists the items to clear, with the reason.
type Decision struct {
	Clear  []int // indices of items, ascending
	Freed  int   // tokens
	Behind int   // tokens after the first cleared item, which must be written to the cache again
	BreakEven
	Why string
}

// Policy holds the parameters of the planner. They were chosen on recorded sessions;
// docs/GC.md says what they save there.
type Policy struct {
	Prices     Prices
	StubTokens int // size of a stub

	KeepLast  int // number of latest results that are never cleared
	YoungFor  int // calls during which a file is kept after it was read, since it may be edited
	EditedFor int // calls during which a file is kept after it was edited
	MinTokens int // smaller results are never cleared

	MinFreed     int // minimum tokens freed by a clearing
	MinFreedFree int // the same when the cache has expired and clearing costs nothing
	Horizon      int // calls over which the saving of a clearing is estimated

	// A clearing must pay off within MaxPay calls. If the session ends right after it, the
	// loss may be at most MaxLoss of the session's bill, or SoonLoss if the clearing pays
	// off within SoonPay calls.
	MaxPay   int
	MaxLoss  float64
	SoonPay  int
	SoonLoss float64
}

// DefaultPolicy returns the policy of the product.
func DefaultPolicy() Policy {
	return Policy{
		Prices: DefaultPrices(), StubTokens: 25,
		KeepLast: 3, YoungFor: 11, EditedFor: 6, MinTokens: 40,
		MinFreed: 3000, MinFreedFree: 1000, Horizon: 40,
		MaxPay: 12, MaxLoss: .025, SoonPay: 3, SoonLoss: .15,
	}
}

// Decide plans for one prompt. Its result depends on its argument and the policy only.
//
// Everything after a cleared item is written to the cache again. So once an item is
// cleared, every later item that may be cleared is cleared too. Decide tries each item as
// the first one and returns the best of the safe decisions.
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

// may returns the indices of the items that may be cleared.
func (p Policy) may(w Window) []int {
	latest := make(map[string]int) // latest result of each file
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

// net returns the expected gain of a decision, in fresh tokens.
func (p Policy) net(w Window, d Decision) float64 {
	saved := d.SavedPerCall * float64(p.Horizon)
	if w.Expired {
		return saved
	}
	return saved - d.Cost
}

// safe reports whether a decision frees enough, soon pays off, and loses little if the
// session ends at once.
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
