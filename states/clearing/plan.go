package clearing

import (
	"slices"

	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
)

// talk is a conversation as the plan sees it: in sizes instead of texts, with the decisions in force.
type talk struct {
	base    int // tokens of what stands before the turns
	turns   []turn
	account contextgc.ClearingAccount // of what the client compacted before
	binds   bool                      // thinking is bound to what stands before it
	marks   bool                      // requests carry a mark of ours
	tool    bool                      // a gateway adds its tool with the first stub
	cached  int                       // tokens of the last prompt, counted without clearing, that the cache still has
}

// turn is one model call's answer and the input that followed it.
type turn struct {
	begins  bool // a turn of the person begins with its input
	edits   []string
	text    int     // tokens of what is never cleared
	blocks  int     // of the request that it has
	items   []piece // thinking and long arguments of the answer, then results
	written int     // how many of them are the answer's
	sent    bool    // the model was called with it
	clear   []int   // numbers of the items of the talk that decisions in force cleared at its end
	had     int     // tokens of the prompt before it that the cache had then; -1: all
}

// piece is something that may be cleared.
type piece struct {
	contextgc.Item
	returned bool // the model asked for it because it had been cleared
	pinned   bool // by the user, just now
}

// changes is what is to go from now on, and the bill.
type changes struct {
	contextgc.ClearingDecision // Clear has the numbers of items of the talk
	account                    contextgc.ClearingAccount
	before, size               int // tokens of the prompt before the last one and of the last one, as they were sent
	whole                      int // tokens of the prompt before the last one without clearing
}

// frontier returns the number of the first item before the last turn that may go once; -1: there is none. Thinking of the person's turn
// goes later than its results, except where it is bound: then both go where the next turn begins.
func (t talk) frontier() int {
	gone := make(map[int]bool)
	first, n, begun := -1, 0, 0
	for i, now := range t.turns {
		for _, number := range now.clear {
			gone[number] = true
		}
		if n += len(now.items); now.begins {
			begun = n
		}
		if i == len(t.turns)-1 {
			n -= len(now.items)
		}
	}
	for _, now := range slices.Backward(t.turns[:len(t.turns)-1]) {
		for _, p := range slices.Backward(now.items) {
			n--
			if !gone[n] && !p.Stays() && (t.binds || p.Kind != contextgc.KindThought || n < begun) {
				first = n
			}
		}
	}
	return first
}

// whole returns the tokens of a turn without clearing.
func (t turn) whole() int {
	n := t.text
	for _, p := range t.items {
		if !p.returned {
			n += p.Tokens
		}
	}
	return n
}

// plan follows a talk up to its last turn. With decides it chooses what goes there. It has no effects and no clock: the same talk has
// the same changes at every replica.
func plan(t talk, policy contextgc.Policy, decides bool) (c changes) {
	s := contextgc.NewPlanner(policy)
	s.Bound, s.Marks, s.Tool = t.binds, t.marks, t.tool
	s.Continue(t.account)
	s.Base(t.base)
	for i, now := range t.turns {
		now.enter(s)
		c.before, c.whole = s.Shown(), s.Sent()
		if decides && i == len(t.turns)-1 {
			c.ClearingDecision = policy.Decide(s.Window(t.cached))
		}
		if now.sent {
			had := now.had
			if had < 0 {
				had = s.Sent()
			}
			s.Call(now.clear, had)
		}
	}
	c.account, c.size = s.Account(), s.Shown()
	return c
}

// enter adds a turn to the prompt.
func (t turn) enter(s *contextgc.Planner) {
	for _, file := range t.edits {
		s.Work(file)
	}
	for n, p := range t.items {
		if n == t.written {
			s.Text(t.text, t.blocks)
		}
		p.Pinned = p.Pinned || p.pinned
		if p.returned {
			s.AddAgain(p.Item)
		} else {
			s.Add(p.Item)
		}
	}
	if t.written == len(t.items) {
		s.Text(t.text, t.blocks)
	}
	if t.begins {
		s.Begin()
	}
}
