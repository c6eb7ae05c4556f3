package replay

import (
	"mcp-pruner/cmd/internal/sessions"
	"mcp-pruner/pruneclient/history"
	"mcp-pruner/tools/tokens"
)

// modelledSystem is the size of system prompt and tool definitions assumed where a
// transcript has no usage, in tokens.
const modelledSystem = 4000

// bill is one session with what it cost.
type bill struct {
	session  sessions.Session
	prices   Prices
	measured bool    // usage is the API's; else modelled from the texts
	total    float64 // price of the whole session, in fresh input tokens
	input    float64 // of it, of all prompts
	calls    []modelCall
	results  []result
}

// modelCall is one call of the model.
type modelCall struct {
	usage   sessions.Usage
	prompt  int // tokens of the prompt
	context int // number of the context: it grows with every compaction
	step    int
}

// result is one tool result and what carrying it cost.
type result struct {
	step   int // of the session
	call   int // the first model call whose prompt holds it
	tokens int
	weight float64 // what one of its tokens cost altogether
	kind   history.Kind
	parsed history.Call
}

// newBill bills a session.
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

// addCalls walks the steps once.
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
			model.prompted(countTokens(step.Text))
		case sessions.Result:
			r := result{step: i, call: len(b.calls), tokens: countTokens(step.Out), parsed: history.ParseCall(step.Tool, step.Args)}
			r.kind = r.parsed.Kind
			model.prompted(r.tokens)
			b.results = append(b.results, r)
		}
	}
}

// claudeTokens is how many tokens Claude counts per o200k token: of 64 results of 8,000
// and more tokens that stood alone between two calls, whose size the usage tells, the
// median is 1.12 and nine of ten lie between 1.07 and 1.18.
const claudeTokens = 1.12

// countTokens is 0 for no text, which the estimate does not know.
func countTokens(text string) int {
	if text == "" {
		return 0
	}
	return int(claudeTokens*float64(tokens.EstimateWell(text)) + 0.5)
}

// weightFrom is what one token cost that first stood in the prompt of model call
// from and stayed until the context ended: written to the cache once, then read from
// it, or written again where the cache had expired between two calls.
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

// cached says whether what first stood in the prompt of call from was read from the
// cache in call j: the cache then reached past the middle of what call from added.
func (b *bill) cached(from, j int) bool {
	before := 0
	if from > 0 && b.calls[from-1].context == b.calls[from].context {
		before = b.calls[from-1].prompt
	}
	return b.calls[j].usage.CacheRead >= (min(before, b.calls[from].prompt)+b.calls[from].prompt)/2
}

// usageModel stands in for the usage that a transcript lacks: everything new is
// written to the cache once and read from it in every later call.
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

// compact leaves the system prompt and a summary of a tenth.
func (m *usageModel) compact() {
	m.prompt = modelledSystem + (m.prompt-modelledSystem)/10
	m.cached = modelledSystem
}

func outputTokens(step sessions.Step) int {
	n := countTokens(step.Text) + countTokens(step.Think)
	for name, value := range step.Args {
		n += 3 + countTokens(name)
		if text, ok := value.(string); ok {
			n += countTokens(text)
		}
	}
	return n
}
