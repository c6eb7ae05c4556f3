package replay

import (
	"github.com/mcp-pruner/mcp-pruner/pruneclient/history"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/history/sessions"
	"github.com/mcp-pruner/mcp-pruner/tools/tokens"
)

// modelledSystem is the assumed size in tokens of system prompt and tool definitions, for transcripts
// without usage.
const modelledSystem = 4000

// bill is one session with its costs.
type bill struct {
	session  sessions.Session
	prices   Prices
	measured bool    // usage is from the API; otherwise it is modelled from the texts
	total    float64 // price of the whole session, in fresh input tokens
	input    float64 // the part of total for all prompts
	calls    []modelCall
	results  []result
}

// modelCall is one call of the model.
type modelCall struct {
	usage   sessions.Usage
	prompt  int // tokens of the prompt
	context int // number of the context; every compaction starts another one
	step    int
}

// result is one tool result and the cost of carrying it.
type result struct {
	step   int // index of the session's step
	call   int // the first model call whose prompt contains it
	tokens int
	weight float64 // price of one of its tokens over the session
	kind   history.Kind
	parsed history.Call
}

// newBill computes the bill of a session.
func newBill(s sessions.Session, prices Prices) *bill {
	b := &bill{session: s, prices: prices, measured: s.Measured()}
	b.addCalls()
	for i := range b.calls {
		u := b.calls[i].usage
		in := float64(u.Input)*prices.Input + float64(u.CacheWrite)*prices.CacheWrite + float64(u.CacheRead)*prices.CacheRead
		b.input += in
		b.total += in + float64(u.Output)*prices.Output
	}
	for i := range b.results {
		b.results[i].weight = b.weightFrom(b.results[i].call)
	}
	return b
}

// addCalls adds the model calls and results in one pass over the steps.
func (b *bill) addCalls() {
	model := usageModel{prompt: modelledSystem}
	context := 0
	for i, step := range b.session.Steps {
		switch step.Kind {
		case sessions.Compact:
			context++
			model.compact()
		case sessions.Call:
			usage := model.call()
			if b.measured {
				usage = *step.Usage
			}
			b.calls = append(b.calls, modelCall{usage: usage, prompt: usage.Prompt(), context: context, step: i})
		case sessions.Say, sessions.Use:
			n := outputTokens(step)
			model.answer(n)
			if !b.measured && len(b.calls) > 0 {
				b.calls[len(b.calls)-1].usage.Output += n
			}
		case sessions.User:
			model.prompted(tokens.Claude(step.Text))
		case sessions.Result:
			r := result{step: i, call: len(b.calls), tokens: tokens.Claude(step.Out), parsed: history.ParseCall(step.Tool, step.Args)}
			r.kind = r.parsed.Kind
			model.prompted(r.tokens)
			b.results = append(b.results, r)
		}
	}
}

// weightFrom returns the price of one token that entered the prompt at model call from and stayed until the
// end of the context: one cache write, then a cache read per call, or another cache write where the cache
// had expired.
func (b *bill) weightFrom(from int) float64 {
	if from >= len(b.calls) {
		return 0 // the session ended before it was sent
	}
	w := b.prices.CacheWrite
	for j := from + 1; j < len(b.calls) && b.calls[j].context == b.calls[from].context; j++ {
		if b.cached(from, j) {
			w += b.prices.CacheRead
		} else {
			w += b.prices.CacheWrite
		}
	}
	return w
}

// cached reports whether call j read from the cache the text that entered the prompt at call from. That is
// so if the cached part of the prompt extends past the middle of that text.
func (b *bill) cached(from, j int) bool {
	before := 0
	if from > 0 && b.calls[from-1].context == b.calls[from].context {
		before = b.calls[from-1].prompt
	}
	return b.calls[j].usage.CacheRead >= (min(before, b.calls[from].prompt)+b.calls[from].prompt)/2
}

// usageModel computes usage for a transcript without it: new text is written to the cache once and read
// from it in every later call.
type usageModel struct {
	prompt, cached, output int
}

func (m *usageModel) prompted(n int) { m.prompt += n }
func (m *usageModel) answer(n int)   { m.output += n }

func (m *usageModel) call() sessions.Usage {
	m.prompt += m.output
	m.output = 0
	u := sessions.Usage{CacheRead: m.cached, CacheWrite: m.prompt - m.cached}
	m.cached = m.prompt
	return u
}

// compact leaves the system prompt and a summary of a tenth of the context.
func (m *usageModel) compact() {
	m.prompt = modelledSystem + (m.prompt-modelledSystem)/10
	m.cached = modelledSystem
}

func outputTokens(step sessions.Step) int {
	n := tokens.Claude(step.Text) + tokens.Claude(step.Think)
	for name, value := range step.Args {
		n += 3 + tokens.Claude(name)
		if text, ok := value.(string); ok {
			n += tokens.Claude(text)
		}
	}
	return n
}
