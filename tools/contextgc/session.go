package contextgc

import "slices"

// ClearingBill is the cost of a session's input, in fresh input tokens: without clearing (Before)
// and with clearing (After).
type ClearingBill struct {
	Before, After float64
	Reread        float64 // plannedPart of After: the cost of reading again what was cleared too early
	Clearings     int
	Free          int // the clearings that broke no cache
	Cleared       int // number of items
	Turns         int // of model calls that lacked a cleared item
}

// Change returns the relative change of the bill by clearing; negative means a saving.
func (b ClearingBill) Change() float64 {
	if b.Before == 0 {
		return 0
	}
	return (b.After - b.Before) / b.Before
}

// replyTokens is the output with which a model asks for a result again.
const replyTokens = 150

// Planner follows a conversation step by step and computes its bill.
type Planner struct {
	Prices Prices // of the next call
	Bound  bool   // the model's thinking is bound to what stands before it
	Marks  bool   // each prompt has a mark of ours at its frontier, before the first item that may go once
	Tool   bool   // a tool stands before everything from the first clearing on, of which no prompt before has an entry

	bill ClearingBill

	parts  []plannedPart // of the prompt, in order
	items  []int         // indices of the parts that are items
	window int           // tokens of the prompt, with clearing
	whole  int           // tokens of the prompt, without clearing
	sent   int           // tokens of the last call's prompt, with clearing
	was    int           // the same, without clearing
	calls  int
	cold   int // calls that found less than half of their prompts in a cache with marks
	edited map[string]int
	again  map[int]int // by the number of an item that was read again, its new number
	base   int         // tokens of what stands before the conversation
	ends   []int       // of the prompts of this context that the cache may have, in parts
	turned int         // the last call for which a turn was counted
	turn   int         // number of the items before the person's latest words
	marked int         // number of the parts before the mark of ours in the last call
}

type plannedPart struct {
	tokens int
	whole  int // tokens without clearing; 0 for what was read again
	blocks int
	item   Item
}

// NewPlanner returns a session without any parts.
func NewPlanner(p Policy) *Planner {
	return &Planner{Prices: p.Prices, edited: make(map[string]int), again: make(map[int]int), turned: -1}
}

// ClearingAccount is the bill of a session so far: a client that compacts its conversation goes on with a new one.
type ClearingAccount struct {
	ClearingBill
	Calls, Cold int
}

// Account returns the session's account.
func (s *Planner) Account() ClearingAccount { return ClearingAccount{s.bill, s.calls, s.cold} }

// Continue begins a session with the account of what went before.
func (s *Planner) Continue(a ClearingAccount) {
	s.bill, s.calls, s.cold = a.ClearingBill, a.Calls, a.Cold
}

// Bill returns the bill so far.
func (s *Planner) Bill() ClearingBill { return s.bill }

// Text adds what is never cleared: words, small tool calls, tool definitions. It has so many blocks of the request.
func (s *Planner) Text(tokens, blocks int) {
	s.add(plannedPart{tokens: tokens, whole: tokens, blocks: blocks})
}

// Base adds what stands before the conversation: system prompt and tools.
func (s *Planner) Base(tokens int) {
	s.Text(tokens, 1)
	s.base = tokens
}

// Add adds an item and returns its number.
func (s *Planner) Add(item Item) int {
	item.Call = s.calls + 1
	s.items = append(s.items, len(s.parts))
	s.add(plannedPart{tokens: item.Tokens, whole: item.Tokens, blocks: 1, item: item})
	return len(s.items) - 1
}

func (s *Planner) add(p plannedPart) {
	s.parts = append(s.parts, p)
	s.window += p.tokens
	s.whole += p.whole
}

// Begin records that a turn of the person begins.
func (s *Planner) Begin() { s.turn = len(s.items) }

// Compact empties the prompt.
func (s *Planner) Compact() {
	s.ends, s.base, s.turn, s.marked = nil, 0, 0, 0
	s.parts, s.items, s.again = nil, nil, make(map[int]int)
	s.window, s.whole, s.sent, s.was = 0, 0, 0, 0
}

// Gone records that the client itself took an item, which the last call sent, out of the prompt.
func (s *Planner) Gone(item int) {
	p := &s.parts[s.items[item]]
	s.window, s.whole = s.window-p.tokens, s.whole-p.whole
	s.sent, s.was = max(s.sent-p.tokens, 0), max(s.was-p.whole, 0)
	p.tokens, p.whole, p.item.Cleared = 0, 0, true
	s.changed(s.items[item])
}

// changed records that a part is another one: no entry that ends behind it is found any more.
func (s *Planner) changed(part int) {
	s.ends = slices.DeleteFunc(s.ends, func(end int) bool { return end > part })
	if s.marked > part {
		s.marked = 0
	}
}

// Work records that the model edited a file: its results are kept for a while.
func (s *Planner) Work(path string) {
	if path != "" {
		s.edited[path] = s.calls
	}
}

// Cleared reports whether an item is no longer in the prompt.
func (s *Planner) Cleared(item int) bool { return s.parts[s.items[s.latest(item)]].item.Cleared }

// latest returns the number under which an item stands in the prompt: another one if it was read again.
func (s *Planner) latest(item int) int {
	for again, ok := s.again[item]; ok; again, ok = s.again[item] {
		item = again
	}
	return item
}

// Needed records that the model needs items, by their numbers. Those that are cleared are read again: their texts stand in
// the prompt once more, and the model call that lacks any of them costs one more turn.
func (s *Planner) Needed(items ...int) {
	for _, i := range items {
		i = s.latest(i)
		if item := s.parts[s.items[i]].item; item.Cleared {
			s.again[i] = len(s.items)
			s.AddAgain(item)
		}
	}
}

// AddAgain adds an item that the model asked for because it had been cleared, and returns its number. It would not be there
// without clearing, nor would the turn with which the model asked.
func (s *Planner) AddAgain(item Item) int {
	s.charge()
	s.bill.Reread += float64(item.Tokens) * s.Prices.in(s.window).Write
	item.Cleared = false
	item.Again++
	whole := s.whole
	number := s.Add(item)
	s.parts[s.items[number]].whole, s.whole = 0, whole
	return number
}

// charge bills the turn with which the model asks for cleared items again, once for each model call.
func (s *Planner) charge() {
	if s.turned == s.calls {
		return
	}
	s.turned = s.calls
	turn := s.asking()
	s.bill.Turns++
	s.bill.After += turn // the next call pays for the text
	s.bill.Reread += turn
}

// asking returns the cost of a turn in which the model asks for something again.
func (s *Planner) asking() float64 {
	p := s.Prices.in(s.window)
	return float64(s.window)*p.Read + replyTokens*p.Output
}

// CachedOf returns the fraction of a prompt of which the next call read that many tokens from the cache. The end of a prompt is
// never read, because caches have blocks and marks: a loss of a few tokens is none.
func CachedOf(read, prompt int) float64 {
	if lost := prompt - read; lost < max(smallLoss, prompt/25) {
		return 1
	}
	return float64(read) / float64(prompt)
}

const smallLoss = 1500

// Shown returns the tokens of the last prompt as it was sent.
func (s *Planner) Shown() int { return s.sent }

// Sent returns the tokens of the last prompt without clearing, all of which the provider's cache has unless it expired.
func (s *Planner) Sent() int { return s.was }

// Window returns the prompt of the next call, of which the cache still has the given number of tokens, counted without
// clearing.
func (s *Planner) Window(cached int) Window {
	w := Window{
		Items: make([]Item, 0, len(s.items)), Tokens: s.window, Call: s.calls + 1, Edited: s.edited,
		Cached: s.warm(cached), Bill: s.bill.Before, Lost: s.bill.After - s.bill.Before, Cold: s.cold, Entries: s.entries(),
		Turn: s.turn, Bound: s.Bound,
	}
	at, next := 0, 0
	for i, p := range s.parts {
		if next < len(s.items) && s.items[next] == i {
			p.item.At = at
			w.Items = append(w.Items, p.item)
			next++
		}
		at += p.tokens
	}
	return w
}

// warm returns how many tokens of the prompt as it was sent, with clearing, the cache still has.
func (s *Planner) warm(cached int) int {
	if cached >= s.was {
		return s.sent
	}
	at, whole := 0, 0
	for _, p := range s.parts {
		if p.whole > 0 && whole+p.whole > cached {
			if p.tokens == p.whole {
				at += cached - whole
			}
			break
		}
		at, whole = at+p.tokens, whole+p.whole
	}
	return min(at, s.sent)
}

// Call bills one model call for which the cache still had the given number of tokens, counted without clearing. The items with
// the given indices were cleared before it.
func (s *Planner) Call(clear []int, cached int) {
	s.calls++
	if s.Prices.LookBack > 0 && 2*cached < s.was { // when a cache without marks loses one cannot be foreseen, so that there is nothing to wait for
		s.cold++
	}
	warm := min(s.warm(cached), s.window)
	if warm < s.sent {
		s.changed(s.partAt(warm))
	}
	s.bill.Before += s.cost(min(cached, s.was), s.whole)
	s.was = s.whole
	frontier := s.frontier()
	if len(clear) > 0 {
		first := s.clear(clear)
		if first >= warm {
			s.bill.Free++
		}
		if first < warm {
			warm = entryBefore(s.entries(), first)
		}
		s.Tool = false
	}
	s.bill.After += s.cost(warm, s.window)
	s.sent = s.window
	s.ends = append(s.ends, len(s.parts))
	s.marked = frontier
}

// frontier returns the number of parts before the first item that may go once.
func (s *Planner) frontier() int {
	if s.Marks {
		for n, part := range s.items {
			if item := s.parts[part].item; !item.Stays() && (s.Bound || item.Kind != KindThought || n < s.turn) {
				return part
			}
		}
	}
	return 0
}

// entries returns where the entries end that a cache with marks finds once something before the end of the prompt has changed: what
// stands before the conversation, and the earlier prompts that end not too many blocks before the end; nil: it finds any beginning.
func (s *Planner) entries() (ends []int) {
	switch {
	case s.Tool:
		return []int{}
	case s.Prices.LookBack == 0 || len(s.parts) == 0:
		return nil
	}
	at, behind := 0, 0
	ends = append(ends, s.base)
	for _, p := range s.parts {
		behind += p.blocks
	}
	for i, p := range s.parts {
		at, behind = at+p.tokens, behind-p.blocks
		if i+1 == s.marked || behind <= s.Prices.LookBack && slices.Contains(s.ends, i+1) {
			ends = append(ends, at)
		}
	}
	return ends
}

// entryBefore returns how many tokens of a prompt that is unchanged up to first a cache with these entries finds.
func entryBefore(entries []int, first int) (found int) {
	if entries == nil {
		return first
	}
	for _, end := range entries {
		if end <= first {
			found = end
		}
	}
	return found
}

// clear replaces items by stubs and returns the number of tokens before the first of them.
func (s *Planner) clear(which []int) int {
	before := 0
	for _, p := range s.parts[:s.items[which[0]]] {
		before += p.tokens
	}
	for _, i := range which {
		p := &s.parts[s.items[i]]
		s.window -= p.tokens - p.item.Stub
		p.tokens, p.item.Cleared = p.item.Stub, true
		if p.item.Kind == KindThought {
			s.rethink(p.item)
			continue
		}
		s.bill.Cleared++
	}
	s.changed(s.items[which[0]])
	s.bill.Clearings++
	return before
}

// partAt returns the number of the parts that so many tokens of the prompt have, whole ones only.
func (s *Planner) partAt(tokens int) (n int) {
	for _, p := range s.parts {
		if tokens -= p.tokens; tokens < 0 {
			break
		}
		n++
	}
	return n
}

// rethink bills what it costs, by its probability, that the model thinks again what was left out: nothing shows when it does.
func (s *Planner) rethink(thought Item) {
	cost := Window{Call: s.calls}.need(thought) * (turnShare*s.asking() + float64(thought.Tokens)*s.Prices.in(s.window).Output)
	s.bill.After += cost
	s.bill.Reread += cost
}

// cost bills a prompt whose first cached tokens are in the cache.
func (s *Planner) cost(cached, tokens int) float64 {
	p := s.Prices.in(tokens)
	return float64(cached)*p.Read + float64(tokens-cached)*p.Write
}
