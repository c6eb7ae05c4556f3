package sessions

import (
	"github.com/mcp-pruner/mcp-pruner/pruneclient/history"
	"github.com/mcp-pruner/mcp-pruner/tools/tokens"
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
	c := contents{Bill: b, by: map[string]SplitPrice{}, pending: map[string]int{}}
	for _, step := range b.Session.Steps {
		c.take(step)
	}
	rest, writes := SplitPrice{}, false
	for i, call := range b.Calls {
		u := call.Usage
		writes = writes || u.CacheWrite > 0
		rest = rest.Plus(SplitPrice{
			Fresh: float64(u.Input) * b.Prices.Input, Write: float64(u.CacheWrite) * b.WritePrice(i),
			Read: float64(u.CacheRead) * b.Prices.CacheRead, Output: float64(u.Output) * b.Prices.Output,
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
	pending map[string]int // tokens that the next call sends for the first time
	results int
	calls   int
	prefix  int
}

func (c *contents) take(step Step) {
	switch step.Kind {
	case User:
		c.pending[person] += tokens.Claude(step.Text)
	case Attach:
		c.pending["attached: "+step.Type] += tokens.Claude(step.Text)
	case Result:
		c.result(c.Results[c.results], "result: "+step.Tool)
		c.results++
	case Compact:
		c.pending = map[string]int{}
	case Call:
		c.call()
	case Say:
		c.written(answerWords, tokens.Claude(step.Text))
		c.output(thinking, tokens.Claude(step.Think))
	case Use:
		content := otherArgs
		if kind := history.ParseCall(step.Tool, step.Args).Kind; kind == history.Edit || kind == history.Write {
			content = editArgs
		}
		c.written(content, OutputTokens(step))
	}
}

// result counts a result, without the calls after its client took it out.
func (c *contents) result(r ResultCost, content string) {
	if r.Until > 0 {
		if r.Until <= r.Call {
			return // it was never sent
		}
		c.by[content] = c.by[content].Plus(c.stay(r.Call, r.Until, false).Times(-float64(r.Tokens)))
	}
	c.pending[content] += r.Tokens
}

// written counts output that the next prompts contain.
func (c *contents) written(content string, n int) {
	c.output(content, n)
	c.pending[content] += n
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
	c.by[content] = c.by[content].Plus(SplitPrice{Output: float64(n) * c.Prices.Output})
}

// call bills what a call sends for the first time, for as long as it stays. The rest of a context's first prompt is the
// fixed prefix, and after a compaction the summary.
func (c *contents) call() {
	i := c.calls
	c.calls++
	known := 0
	for content, n := range c.pending {
		known += n
		c.by[content] = c.by[content].Plus(c.weight(i, false).Times(float64(n)))
	}
	c.pending = map[string]int{}
	if i > 0 && c.Calls[i-1].Context == c.Calls[i].Context {
		return
	}
	rest := max(c.Calls[i].Prompt-known, 0)
	if i == 0 {
		c.prefix = rest
	}
	prefix := min(rest, c.prefix)
	read := min(prefix, c.Calls[i].Usage.CacheRead)
	later := c.weight(i, true)
	entry := c.entry(i)
	c.by[Prefix] = c.by[Prefix].Plus(later.Times(float64(prefix))).Plus(SplitPrice{Read: float64(read) * c.Prices.CacheRead}).Plus(entry.Times(float64(prefix - read)))
	if summary := rest - prefix; summary > 0 {
		c.by[summaryText] = c.by[summaryText].Plus(c.weight(i, false).Times(float64(summary)))
	}
}

// entry returns the price of a token that a call sends for the first time.
func (c *contents) entry(call int) SplitPrice {
	u := c.Calls[call].Usage
	fresh := 0.0
	if sent := u.Input + u.CacheWrite; sent > 0 {
		fresh = float64(u.Input) / float64(sent)
	}
	return SplitPrice{Fresh: fresh * c.Prices.Input, Write: (1 - fresh) * c.WritePrice(call)}
}

// weight returns the price of a token that enters at a call and stays until the context ends: with its entry, or without it
// for the prefix, which stands in front.
func (c *contents) weight(from int, prefix bool) SplitPrice {
	w := c.stay(from, from+1, prefix)
	if !prefix {
		w = w.Plus(c.entry(from))
	}
	return w
}

// stay returns the price of such a token in the calls from one on.
func (c *contents) stay(from, first int, prefix bool) (w SplitPrice) {
	for j := first; j < len(c.Calls) && c.Calls[j].Context == c.Calls[from].Context; j++ {
		cached := c.Cached(from, j)
		if prefix {
			cached = c.Calls[j].Usage.CacheRead >= c.prefix/2
		}
		if cached {
			w.Read += c.Prices.CacheRead
		} else {
			again := c.entry(j)
			w.Again += again.Sum()
		}
	}
	return w
}
