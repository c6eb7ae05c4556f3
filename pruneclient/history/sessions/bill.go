package sessions

import (
	"cmp"
	"slices"
	"time"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history"
	"github.com/mcp-pruner/mcp-pruner/tools/tokens"
)

// ModelledSystem is the assumed size in tokens of system prompt and tool definitions, for transcripts
// without usage.
const ModelledSystem = 4000

// TurnTokens is the assumed output of one further turn.
const TurnTokens = 150

// Bill is one session with its costs.
type Bill struct {
	Session  Session
	Prices   Prices  // of the session's first model; each call has its own
	Measured bool    // usage is from the API; otherwise it is modelled from the texts
	Guessed  int     // measured calls whose output the transcript gives as a placeholder; it is modelled from the texts
	Total    float64 // price of the whole session, in fresh input tokens
	Input    float64 // the part of total for all prompts
	Calls    []modelCall
	Results  []ResultCost

	density float64 // tokens of this session for one that Claude counts
	known   float64 // tokens of all texts in all prompts
	price   func(call Step, prompt int) Prices
}

// modelCall is one call of the model.
type modelCall struct {
	Usage   Usage
	Price   Prices // of its model, in the band of its prompt
	Prompt  int    // tokens of the prompt
	Context int    // number of the context; every compaction starts another one
	Step    int
	Hidden  int // tokens of its thinking that later prompts have, and of which the transcript has no text
	Gone    int // tokens of the context's results that its prompt no longer has
	written int // tokens of the texts and tool calls of its answer
	added   int // tokens of the texts that its prompt has first
	thinks  bool
}

// ResultCost is one tool result and the cost of carrying it.
type ResultCost struct {
	Step   int // index of the session's step
	Call   int // the first model call whose prompt contains it
	Until  int // the first one of its context whose prompt lacks it, because the client took it out; 0: none
	Tokens int
	Weight float64 // price of one of its tokens over the session
	Kind   history.Kind
	Parsed history.ToolCall
}

// Billed computes the bill of a session at the prices of the model of each call, but for those that the user sets.
func Billed(s Session, set PriceOverride) *Bill {
	b := &Bill{Session: s, Prices: set.On(modelOf(s, s.Model()).Prices)}
	b.price = func(call Step, prompt int) Prices {
		m := modelOf(s, cmp.Or(call.Model, s.Model()))
		return set.On(m.At(prompt))
	}
	return b.compute()
}

// NewBill computes the bill of a session of which all calls have these prices.
func NewBill(s Session, prices Prices) *Bill {
	return (&Bill{Session: s, Prices: prices, price: func(Step, int) Prices { return prices }}).compute()
}

func (b *Bill) compute() *Bill {
	b.Measured = b.Session.Measured()
	b.density = modelOf(b.Session, b.Session.Model()).Density()
	b.addCalls()
	b.calibrate()
	b.leave()
	for i := range b.Calls {
		c := &b.Calls[i]
		c.Price = b.price(b.Session.Steps[c.Step], c.Prompt)
		if c.Usage.Output < c.written/2 {
			c.Usage.Output = c.written
			b.Guessed++
		}
		in := float64(c.Usage.Input)*c.Price.Input + float64(c.Usage.CacheWrite)*b.WritePrice(i) + float64(c.Usage.CacheRead)*c.Price.CacheRead
		b.Input += in
		b.Total += in + float64(c.Usage.Output)*c.Price.Output
	}
	for i := range b.Results {
		r := &b.Results[i]
		r.Weight = b.weight(r.Call, r.Until)
	}
	if !b.Measured {
		b.Guessed = 0
	}
	return b
}

// Tokens estimates the tokens of a text by the session's model.
func (b *Bill) Tokens(text string) int { return b.dense(tokens.Claude(text)) }

// OutputTokens estimates the tokens of a step of the model's answer.
func (b *Bill) OutputTokens(step Step) int { return b.dense(OutputTokens(step)) }

func (b *Bill) dense(n int) int { return int(float64(n)*b.density + .5) }

// addCalls adds the model calls and results in one pass over the steps, in tokens as Claude counts them.
func (b *Bill) addCalls() {
	model := usageModel{prompt: ModelledSystem}
	context, added := 0, 0
	enter := func(n int) {
		model.prompt += n
		added += n
	}
	for i, step := range b.Session.Steps {
		switch step.Kind {
		case Compact:
			context++
			added = 0
			model.compact()
		case Call:
			usage := model.call(step.At)
			if b.Measured {
				usage = b.usageOf(step)
			}
			thinks := modelOf(b.Session, cmp.Or(step.Model, b.Session.Model())).Thinks
			b.Calls = append(b.Calls, modelCall{Usage: usage, Prompt: usage.Prompt(), Context: context, Step: i, added: added, thinks: thinks})
			added = 0
		case Say, Use:
			n := OutputTokens(step)
			model.output += n
			if len(b.Calls) > 0 {
				b.Calls[len(b.Calls)-1].written += n
			}
		case User, Attach:
			enter(tokens.Claude(step.Text))
		case Result:
			r := ResultCost{Step: i, Call: len(b.Calls), Tokens: tokens.Claude(step.Out), Parsed: history.ParseCall(step.Tool, step.Args)}
			r.Kind = r.Parsed.Kind
			enter(r.Tokens)
			b.Results = append(b.Results, r)
		case Drop:
			if r := b.standing(step.ID, context); r != nil {
				r.Until = len(b.Calls)
				model.dropped(r.Tokens)
				if r.Until == r.Call {
					added -= r.Tokens
				}
			}
		}
	}
}

// standing returns the latest result of a tool call that the prompts of a context have, or the next one will; nil: none.
func (b *Bill) standing(id string, context int) *ResultCost {
	for i := range slices.Backward(b.Results) {
		r := &b.Results[i]
		if b.Session.Steps[r.Step].ID == id && r.Until == 0 {
			if r.Call == len(b.Calls) || b.Calls[r.Call].Context == context {
				return r
			}
			return nil
		}
	}
	return nil
}

// usageOf returns the usage of a measured session's call. One that was interrupted has none: it read what the call before it
// had sent.
func (b *Bill) usageOf(call Step) Usage {
	switch {
	case call.Usage != nil && call.Usage.Prompt() > 0:
		return *call.Usage
	case len(b.Calls) > 0:
		return Usage{CacheRead: b.Calls[len(b.Calls)-1].Prompt}
	}
	return Usage{}
}

// WeightFrom returns the price of one token that entered the prompt at model call from and stayed until the
// end of the context: one cache write, then a cache read per call, or another cache write where the cache
// had expired.
func (b *Bill) WeightFrom(from int) float64 { return b.weight(from, 0) }

// weight is the same for a token that the prompt of call until no longer has; 0: it stays.
func (b *Bill) weight(from, until int) float64 {
	if from >= len(b.Calls) || until > 0 && until <= from {
		return 0 // the session ended, or the client took it out, before it was sent
	}
	w := b.WritePrice(from)
	for j := from + 1; b.has(from, until, j); j++ {
		if b.Cached(from, j) {
			w += b.Calls[j].Price.CacheRead
		} else {
			w += b.WritePrice(j)
		}
	}
	return w
}

// has reports whether the prompt of call j has what entered at call from, and left at until.
func (b *Bill) has(from, until, j int) bool {
	return j < len(b.Calls) && b.Calls[j].Context == b.Calls[from].Context && (until == 0 || j < until)
}

// WritePrice returns the price of a token that a call writes to the cache: of a mixture, if the cache keeps a part of them
// for an hour.
func (b *Bill) WritePrice(call int) float64 {
	u, p := b.Calls[call].Usage, b.Calls[call].Price
	if u.Hour == 0 {
		return p.CacheWrite
	}
	hour := float64(u.Hour) / float64(u.CacheWrite)
	return (1-hour)*p.CacheWrite + hour*p.CacheHour
}

// Cached reports whether call j read from the cache the text that entered the prompt at call from. That is
// so if the cached part of the prompt extends past the middle of that text.
func (b *Bill) Cached(from, j int) bool {
	before := 0
	if from > 0 && b.Calls[from-1].Context == b.Calls[from].Context {
		before = b.Calls[from-1].Prompt
	}
	left := b.Calls[j].Gone - b.Calls[from].Gone
	return b.Calls[j].Usage.CacheRead >= (min(before, b.Calls[from].Prompt)+b.Calls[from].Prompt)/2-left
}

// usageModel computes usage for a transcript without it: new text is written to the cache once and read
// from it in every later call. After a pause, where the transcript has times, everything is written again.
type usageModel struct {
	prompt, cached, output int
	at                     time.Duration // of the call before
}

func (m *usageModel) call(at time.Duration) Usage {
	if at > 0 && at-m.at > tokens.CacheLife {
		m.cached = 0
	}
	m.at = at
	m.prompt += m.output
	m.output = 0
	u := Usage{CacheRead: m.cached, CacheWrite: m.prompt - m.cached}
	m.cached = m.prompt
	return u
}

// dropped takes a part out of the prompt. What follows it is written again; where it stood is not known.
func (m *usageModel) dropped(n int) {
	m.prompt -= n
	m.cached = ModelledSystem
}

// compact leaves the system prompt and a summary of a tenth of the context.
func (m *usageModel) compact() {
	m.prompt = ModelledSystem + (m.prompt-ModelledSystem)/10
	m.cached = ModelledSystem
}

// OutputTokens returns the tokens of a step of the model's answer.
func OutputTokens(step Step) int {
	n := tokens.Claude(step.Text) + tokens.Claude(step.Think)
	for name, value := range step.Args {
		n += 3 + tokens.Claude(name)
		if text, ok := value.(string); ok {
			n += tokens.Claude(text)
		}
	}
	return n
}
