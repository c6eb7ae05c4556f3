package planner

// Bill is the cost of a session's input, in fresh input tokens: without clearing (Before)
// and with clearing (After).
type Bill struct {
	Before, After float64
	Reread        float64 // part of After: the cost of reading again what was cleared too early
	Clearings     int
	Cleared       int // number of results
	Turns         int // of model calls that lacked a cleared result
}

// Change returns the relative change of the bill by clearing; negative means a saving.
func (b Bill) Change() float64 {
	if b.Before == 0 {
		return 0
	}
	return (b.After - b.Before) / b.Before
}

// replyTokens is the output with which a model asks for a result again.
const replyTokens = 150

// Session follows a conversation step by step and computes its bill.
type Session struct {
	prices Prices
	stub   int
	bill   Bill

	parts  []part // of the prompt, in order
	items  []int  // indices of the parts that are tool results
	window int    // tokens of the prompt, with clearing
	whole  int    // tokens of the prompt, without clearing
	sent   int    // tokens of the last call's prompt that are in the cache
	was    int    // the same, without clearing
	calls  int
	edited map[string]int
	again  map[int]int // by the number of a result that was read again, its new number
	turned int         // the last call for which a turn was counted
}

// part is one part of the prompt.
type part struct {
	tokens int
	item   Item // of a tool result
}

// NewSession returns a session without any parts.
func NewSession(p Policy) *Session {
	return &Session{prices: p.Prices, stub: p.StubTokens, edited: make(map[string]int), again: make(map[int]int), turned: -1}
}

// Bill returns the bill so far.
func (s *Session) Bill() Bill { return s.bill }

// Text adds a part that is never cleared: text, tool calls, tool definitions.
func (s *Session) Text(tokens int) { s.add(part{tokens: tokens}) }

// Result adds a tool result and returns its number. path is the file it shows, "" if none.
func (s *Session) Result(tokens int, path string, pinned bool) int {
	s.items = append(s.items, len(s.parts))
	s.add(part{tokens: tokens, item: Item{Tokens: tokens, Path: path, Call: s.calls + 1, Pinned: pinned}})
	return len(s.items) - 1
}

func (s *Session) add(p part) {
	s.parts = append(s.parts, p)
	s.window += p.tokens
	s.whole += p.tokens
}

// Compact empties the prompt.
func (s *Session) Compact() {
	s.parts, s.items, s.again = nil, nil, make(map[int]int)
	s.window, s.whole, s.sent, s.was = 0, 0, 0, 0
}

// Work records that the model edited a file: its results are kept for a while.
func (s *Session) Work(path string) {
	if path != "" {
		s.edited[path] = s.calls
	}
}

// Cleared reports whether a result is no longer in the prompt.
func (s *Session) Cleared(result int) bool { return s.parts[s.items[s.latest(result)]].item.Cleared }

// latest returns the number under which a result stands in the prompt: another one if it was read again.
func (s *Session) latest(result int) int {
	for again, ok := s.again[result]; ok; again, ok = s.again[result] {
		result = again
	}
	return result
}

// Needed records that the model needs results, by their numbers. Those that are cleared are read again: their texts stand in
// the prompt once more, and the model call that lacks any of them costs one more turn.
func (s *Session) Needed(results ...int) {
	for _, i := range results {
		i = s.latest(i)
		if item := s.parts[s.items[i]].item; item.Cleared {
			s.again[i] = len(s.items)
			s.readAgain(item)
		}
	}
}

func (s *Session) readAgain(item Item) {
	if s.turned != s.calls {
		s.turned = s.calls
		turn := float64(s.window)*s.prices.Read + replyTokens*s.prices.Output
		s.bill.Turns++
		s.bill.After += turn // the next call pays for the text
		s.bill.Reread += turn
	}
	s.bill.Reread += float64(item.Tokens) * s.prices.Write
	whole := s.whole
	s.Result(item.Tokens, item.Path, item.Pinned)
	s.whole = whole
}

// Window returns the prompt of the next call.
func (s *Session) Window(expired bool) Window {
	w := Window{
		Items: make([]Item, 0, len(s.items)), Tokens: s.window, Call: s.calls + 1, Edited: s.edited,
		Bill: s.bill.Before, Lost: max(0, s.bill.After-s.bill.Before), Expired: expired,
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

// Call bills one model call. The items with the given indices were cleared before it.
func (s *Session) Call(clear []int, expired bool) {
	s.calls++
	s.bill.Before += s.cost(s.was, s.whole, expired)
	s.was = s.whole
	cached := min(s.sent, s.window)
	if len(clear) > 0 {
		cached = min(cached, s.clear(clear))
	}
	s.bill.After += s.cost(cached, s.window, expired)
	s.sent = s.window
}

// clear replaces items by stubs and returns the number of tokens before the first of them.
func (s *Session) clear(which []int) int {
	before := 0
	for _, p := range s.parts[:s.items[which[0]]] {
		before += p.tokens
	}
	for _, i := range which {
		p := &s.parts[s.items[i]]
		s.window -= p.tokens - s.stub
		p.tokens, p.item.Cleared = s.stub, true
	}
	s.bill.Clearings++
	s.bill.Cleared += len(which)
	return before
}

// cost bills a prompt whose first cached tokens are in the cache.
func (s *Session) cost(cached, tokens int, expired bool) float64 {
	if expired {
		cached = 0
	}
	return float64(cached)*s.prices.Read + float64(tokens-cached)*s.prices.Write
}
