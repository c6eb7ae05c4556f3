package sessions

import (
	"github.com/mcp-pruner/mcp-pruner/pruneclient/history"
)

// SplitPrice is a price split by what is paid for.
type SplitPrice struct {
	Fresh  float64 `json:"fresh"`
	Write  float64 `json:"write"`
	Again  float64 `json:"again"` // written once more, or sent fresh, because the cache had expired
	Read   float64 `json:"read"`
	Output float64 `json:"output"`
}

// Plus returns the sum of two prices.
func (a SplitPrice) Plus(b SplitPrice) SplitPrice {
	return SplitPrice{a.Fresh + b.Fresh, a.Write + b.Write, a.Again + b.Again, a.Read + b.Read, a.Output + b.Output}
}

// Times returns a price times a factor.
func (a SplitPrice) Times(n float64) SplitPrice {
	return SplitPrice{a.Fresh * n, a.Write * n, a.Again * n, a.Read * n, a.Output * n}
}

// Sum returns the whole price.
func (a SplitPrice) Sum() float64 { return a.Fresh + a.Write + a.Again + a.Read + a.Output }

// The contents of a bill beside "result: TOOL" and "attached: TYPE".
const (
	Prefix      = "fixed prefix"
	summaryText = "summary after a compaction"
	editArgs    = "arguments of edits"
	otherArgs   = "arguments of other calls"
	answerWords = "the agent's words"
	thinking    = "thinking"
	person      = "the user"
	unknown     = "unknown" // in the API's usage, but not in the transcript; below 0 where the texts were estimated too large
)

// Contents splits the bill by content and price. What the transcript does not show is Unknown, not spread over the rest. prefix
// is the size of the fixed prefix in tokens.
func (b *Bill) Contents() (by map[string]SplitPrice, prefix int) {
	c := contents{Bill: b, by: map[string]SplitPrice{}, results: b.Results}
	for _, step := range b.Session.Steps {
		c.take(step)
	}
	rest, writes := SplitPrice{}, false
	for i, call := range b.Calls {
		u := call.Usage
		writes = writes || u.CacheWrite > 0
		rest = rest.Plus(SplitPrice{
			Fresh: float64(u.Input) * call.Price.Input, Write: float64(u.CacheWrite) * b.WritePrice(i),
			Read: float64(u.CacheRead) * call.Price.CacheRead, Output: float64(u.Output) * call.Price.Output,
		})
	}
	for _, by := range c.by {
		rest = rest.Plus(by.Times(-1))
	}
	sent := rest.Fresh + rest.Write + rest.Again // usage does not say what was sent before
	if rest.Fresh, rest.Write, rest.Again = sent, 0, 0; writes {
		rest.Fresh, rest.Write = 0, sent
	}
	c.by[unknown] = c.by[unknown].Plus(rest)
	return c.by, c.prefix
}

type contents struct {
	*Bill
	by      map[string]SplitPrice
	pending []pending // what the next call sends for the first time
	results []ResultCost
	calls   int
	prefix  int
}

// pending is a text that the next call sends for the first time, and the call from which on it is gone; 0: none.
type pending struct {
	content string
	tokens  int
	until   int
}

func (c *contents) add(content string, tokens, until int) {
	c.pending = append(c.pending, pending{content, tokens, until})
}

func (c *contents) take(step Step) {
	switch step.Kind {
	case User:
		c.add(person, c.Tokens(step.Text), 0)
	case Attach:
		c.add("attached: "+step.Type, c.Tokens(step.Text), 0)
	case Result:
		if r := c.results[0]; r.Until == 0 || r.Until > r.Call { // else it was never sent
			c.add("result: "+step.Tool, r.Tokens, r.Until)
		}
		c.results = c.results[1:]
	case Compact:
		c.pending = nil
	case Call:
		c.call()
	case Say:
		c.written(answerWords, c.Tokens(step.Text))
		c.output(thinking, c.Tokens(step.Think))
	case Use:
		content := otherArgs
		if kind := history.ParseCall(step.Tool, step.Args).Kind; kind == history.Edit || kind == history.Write {
			content = editArgs
		}
		c.written(content, c.OutputTokens(step))
	}
}

// written counts output that the next prompts contain.
func (c *contents) written(content string, n int) {
	c.output(content, n)
	c.add(content, n, 0)
}

// output counts tokens of an answer, at most as many as the API counted for it.
func (c *contents) output(content string, n int) {
	if c.calls == 0 || n == 0 {
		return
	}
	call := c.Calls[c.calls-1]
	if call.Usage.Output < call.written {
		n = n * call.Usage.Output / call.written
	}
	c.by[content] = c.by[content].Plus(SplitPrice{Output: float64(n) * call.Price.Output})
}

// call bills what a call sends for the first time, for as long as it stays. The rest of a context's first prompt is the
// fixed prefix, and after a compaction the summary.
func (c *contents) call() {
	i := c.calls
	c.calls++
	known := 0
	for _, p := range c.pending {
		known += p.tokens
		c.by[p.content] = c.by[p.content].Plus(c.split(i, p.until, false).Times(float64(p.tokens)))
	}
	c.pending = nil
	if hidden := c.Calls[i].Hidden; hidden > 0 {
		c.by[thinking] = c.by[thinking].Plus(SplitPrice{Output: float64(hidden) * c.Calls[i].Price.Output})
		c.add(thinking, hidden, 0)
	}
	if i > 0 && c.Calls[i-1].Context == c.Calls[i].Context {
		return
	}
	rest := max(c.Calls[i].Prompt-known, 0)
	if i == 0 {
		c.prefix = rest
	}
	prefix := min(rest, c.prefix)
	read := min(prefix, c.Calls[i].Usage.CacheRead)
	later := c.split(i, 0, true)
	entry := c.entry(i)
	c.by[Prefix] = c.by[Prefix].Plus(later.Times(float64(prefix))).Plus(SplitPrice{Read: float64(read) * c.Calls[i].Price.CacheRead}).Plus(entry.Times(float64(prefix - read)))
	if summary := rest - prefix; summary > 0 {
		c.by[summaryText] = c.by[summaryText].Plus(c.split(i, 0, false).Times(float64(summary)))
	}
}

// entry returns the price of a token that a call sends for the first time.
func (c *contents) entry(call int) SplitPrice {
	u := c.Calls[call].Usage
	fresh := 0.0
	if sent := u.Input + u.CacheWrite; sent > 0 {
		fresh = float64(u.Input) / float64(sent)
	}
	return SplitPrice{Fresh: fresh * c.Calls[call].Price.Input, Write: (1 - fresh) * c.WritePrice(call)}
}

// split returns the price of a token that enters at a call and stays until the context ends: with its entry, or without it
// for the prefix, which stands in front.
func (c *contents) split(from, until int, prefix bool) SplitPrice {
	w := SplitPrice{}
	if !prefix {
		w = c.entry(from)
	}
	for j := from + 1; c.has(from, until, j); j++ {
		cached := c.Cached(from, j)
		if prefix {
			cached = c.Calls[j].Usage.CacheRead >= c.prefix/2
		}
		if cached {
			w.Read += c.Calls[j].Price.CacheRead
		} else {
			again := c.entry(j)
			w.Again += again.Sum()
		}
	}
	return w
}
