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
	Prices   Prices
	Measured bool    // usage is from the API; otherwise it is modelled from the texts
	Guessed  int     // measured calls whose output the transcript gives as a placeholder; it is modelled from the texts
	Total    float64 // price of the whole session, in fresh input tokens
	Input    float64 // the part of total for all prompts
	Calls    []modelCall
	Results  []ResultCost
}

// modelCall is one call of the model.
type modelCall struct {
	Usage   Usage
	Prompt  int // tokens of the prompt
	Context int // number of the context; every compaction starts another one
	Step    int
	written int // tokens of the texts and tool calls of its answer
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

// NewBill computes the bill of a session.
func NewBill(s Session, prices Prices) *Bill {
	b := &Bill{Session: s, Prices: prices, Measured: s.Measured()}
	b.addCalls()
	for i := range b.Calls {
		u := &b.Calls[i].Usage
		if u.Output < b.Calls[i].written/2 {
			u.Output = b.Calls[i].written
			b.Guessed++
		}
		in := float64(u.Input)*prices.Input + float64(u.CacheWrite)*b.WritePrice(i) + float64(u.CacheRead)*prices.CacheRead
		b.Input += in
		b.Total += in + float64(u.Output)*prices.Output
	}
	for i := range b.Results {
		b.Results[i].Weight = b.weight(b.Results[i].Call, cmp.Or(b.Results[i].Until, len(b.Calls)))
	}
	if !b.Measured {
		b.Guessed = 0
	}
	return b
}

// addCalls adds the model calls and results in one pass over the steps.
func (b *Bill) addCalls() {
	model := usageModel{prompt: ModelledSystem}
	context := 0
	for i, step := range b.Session.Steps {
		switch step.Kind {
		case Compact:
			context++
			model.compact()
		case Call:
			usage := model.call(step.At)
			if b.Measured {
				usage = b.usageOf(step)
			}
			b.Calls = append(b.Calls, modelCall{Usage: usage, Prompt: usage.Prompt(), Context: context, Step: i})
		case Say, Use:
			n := OutputTokens(step)
			model.answer(n)
			if len(b.Calls) > 0 {
				b.Calls[len(b.Calls)-1].written += n
			}
		case User, Attach:
			model.prompted(tokens.Claude(step.Text))
		case Result:
			r := ResultCost{Step: i, Call: len(b.Calls), Tokens: tokens.Claude(step.Out), Parsed: history.ParseCall(step.Tool, step.Args)}
			r.Kind = r.Parsed.Kind
			model.prompted(r.Tokens)
			b.Results = append(b.Results, r)
		case Drop:
			if r := b.resultOf(step.ID); r != nil {
				r.Until = len(b.Calls)
				model.dropped(r.Tokens)
			}
		}
	}
}

// resultOf returns the latest result of a call, nil if there is none.
func (b *Bill) resultOf(id string) *ResultCost {
	for i := range slices.Backward(b.Results) {
		if b.Session.Steps[b.Results[i].Step].ID == id {
			return &b.Results[i]
		}
	}
	return nil
}

// usageOf returns the usage of a measured session's call. One that was interrupted has none: it read what the call before it
// had sent.
func (b *Bill) usageOf(call Step) Usage {
	switch {
	case call.Usage != nil:
		return *call.Usage
	case len(b.Calls) > 0:
		return Usage{CacheRead: b.Calls[len(b.Calls)-1].Prompt}
	}
	return Usage{}
}

// WeightFrom returns the price of one token that entered the prompt at model call from and stayed until the
// end of the context: one cache write, then a cache read per call, or another cache write where the cache
// had expired.
func (b *Bill) WeightFrom(from int) float64 { return b.weight(from, len(b.Calls)) }

// weight returns the same of a token that stayed at most until the call before another one.
func (b *Bill) weight(from, until int) float64 {
	if from >= until {
		return 0 // the session ended before it was sent
	}
	w := b.WritePrice(from)
	for j := from + 1; j < until && b.Calls[j].Context == b.Calls[from].Context; j++ {
		if b.Cached(from, j) {
			w += b.Prices.CacheRead
		} else {
			w += b.WritePrice(j)
		}
	}
	return w
}

// WritePrice returns the price of a token that a call writes to the cache: of a mixture, if the cache keeps a part of them
// for an hour.
func (b *Bill) WritePrice(call int) float64 {
	u := b.Calls[call].Usage
	if u.Hour == 0 {
		return b.Prices.CacheWrite
	}
	hour := float64(u.Hour) / float64(u.CacheWrite)
	return (1-hour)*b.Prices.CacheWrite + hour*b.Prices.CacheHour
}

// Cached reports whether call j read from the cache the text that entered the prompt at call from. That is
// so if the cached part of the prompt extends past the middle of that text.
func (b *Bill) Cached(from, j int) bool {
	before := 0
	if from > 0 && b.Calls[from-1].Context == b.Calls[from].Context {
		before = b.Calls[from-1].Prompt
	}
	return b.Calls[j].Usage.CacheRead >= (min(before, b.Calls[from].Prompt)+b.Calls[from].Prompt)/2
}

// usageModel computes usage for a transcript without it: new text is written to the cache once and read
// from it in every later call. After a pause, where the transcript has times, everything is written again.
type usageModel struct {
	prompt, cached, output int
	at                     time.Duration // of the call before
}

// cacheLife is how long a provider's cache keeps a prompt, at least.
const cacheLife = 5 * time.Minute

func (m *usageModel) prompted(n int) { m.prompt += n }
func (m *usageModel) answer(n int)   { m.output += n }

func (m *usageModel) call(at time.Duration) Usage {
	if at > 0 && at-m.at > cacheLife {
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
