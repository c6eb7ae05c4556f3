package planner

// Bill is the cost of a session's input, in fresh input tokens: without clearing (Before)
// and with clearing (After).
type Bill struct {
	Before, After float64
	Reread        float64 // part of After: the cost of reading again what was cleared too early
	Clearings     int
	Cleared       int // number of results
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
}

// part is one part of the prompt.
type part struct {
	tokens int
	item   Item // of a tool result
}

// NewSession returns a session without any parts.
func NewSession(p Policy) *Session {
	return &Session{prices: p.Prices, stub: p.StubTokens, edited: make(map[string]int)}
}

// Bill returns the bill so far.
func (s *Session) Bill() Bill { return s.bill }

// Text adds a part that is never cleared: text, tool calls, tool definitions.
func (s *Session) Text(tokens int) { s.add(part{tokens: tokens}) }

// Result adds a tool result. path is the file it shows, "" if none.
func (s *Session) Result(tokens int, path string, pinned bool) {
	s.items = append(s.items, len(s.parts))
	s.add(part{tokens: tokens, item: Item{Tokens: tokens, Path: path, Call: s.calls + 1, Pinned: pinned}})
}

func (s *Session) add(p part) {
	s.parts = append(s.parts, p)
	s.window += p.tokens
	s.whole += p.tokens
}

// Compact empties the prompt.
func (s *Session) Compact() {
	s.parts, s.items = nil, nil
	s.window, s.whole, s.sent, s.was = 0, 0, 0, 0
}

// Work records that the model edited a file whose results are in the prompt as given, so
// that no result is read again.
func (s *Session) Work(path string) {
	if path != "" {
		s.edited[path] = s.calls
	}
}

// Edited records that the model edited a file. If the file's latest result was cleared, the
// model had to read it again first: the cost is one more turn and the result's text again.
func (s *Session) Edited(path string) {
	if path == "" {
		return
	}
	s.edited[path] = s.calls
	for i := len(s.items) - 1; i >= 0; i-- {
		if item := s.parts[s.items[i]].item; item.Path == path {
			if item.Cleared {
				s.readAgain(item)
			}
			return
		}
	}
}

func (s *Session) readAgain(item Item) {
	turn := float64(s.window)*s.prices.Read + replyTokens*s.prices.Output
	s.bill.After += turn // the next call pays for the text
	s.bill.Reread += turn + float64(item.Tokens)*s.prices.Write
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
