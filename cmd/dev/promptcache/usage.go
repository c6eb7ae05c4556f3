package promptcache

import "github.com/mcp-pruner/mcp-pruner/tools/tokens"

// Usage is what a request cost, in tokens. Those who do not ask for marks write what they have not read.
type Usage struct {
	Input, Read int
	Short, Hour int // written to the cache for five minutes, and for an hour
}

// Prompt returns the tokens of the whole prompt.
func (u Usage) Prompt() int { return u.Input + u.Read + u.Short + u.Hour }

// Price returns the price at a model's prices in the band of the prompt, in fresh input tokens.
func (u Usage) Price(model string) float64 {
	m, _ := tokens.ModelOf(model)
	p := m.At(u.Prompt())
	return float64(u.Input)*p.Input + float64(u.Read)*p.CacheRead + float64(u.Short)*p.CacheWrite + float64(u.Hour)*p.CacheHour
}

// Name returns the name of the usage in an answer of the API with such a path.
func Name(path string) string {
	if form(path) == gemini {
		return "usageMetadata"
	}
	return "usage"
}

// In returns the usage in the form of the API with such a path, with the tokens of the answer.
func (u Usage) In(path string, output int) map[string]any {
	switch form(path) {
	case messages:
		return map[string]any{"input_tokens": u.Input, "output_tokens": output, "cache_read_input_tokens": u.Read, "cache_creation_input_tokens": u.Short + u.Hour,
			"cache_creation": map[string]any{"ephemeral_5m_input_tokens": u.Short, "ephemeral_1h_input_tokens": u.Hour}}
	case responses:
		return map[string]any{"input_tokens": u.Prompt(), "input_tokens_details": map[string]any{"cached_tokens": u.Read}, "output_tokens": output,
			"output_tokens_details": map[string]any{"reasoning_tokens": 0}, "total_tokens": u.Prompt() + output}
	case gemini:
		return map[string]any{"promptTokenCount": u.Prompt(), "cachedContentTokenCount": u.Read, "candidatesTokenCount": output, "totalTokenCount": u.Prompt() + output}
	default:
		return map[string]any{"prompt_tokens": u.Prompt(), "prompt_tokens_details": map[string]any{"cached_tokens": u.Read}, "completion_tokens": output,
			"total_tokens": u.Prompt() + output}
	}
}
