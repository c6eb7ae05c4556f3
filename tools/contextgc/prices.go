package contextgc

import (
	"math"
	"time"

	"github.com/mcp-pruner/mcp-pruner/tools/tokens"
)

// Prices are in units of one fresh input token.
type Prices struct {
	Write  float64 `json:"write"`  // one token written to the prompt cache
	Read   float64 `json:"read"`   // one token read from the prompt cache
	Output float64 `json:"output"` // one token produced by the model

	// LookBack is how many blocks before the end of a prompt a cache finds what an earlier request wrote, if it keeps entries at marks
	// only; 0: it finds any common beginning.
	LookBack int `json:"look_back,omitempty"`

	Bands []tokens.Band `json:"bands,omitempty"` // by the tokens of a prompt that the planner counts
}

// at returns the factors by which the bands of a prompt's size multiply its input prices and the price of its output.
func (p Prices) at(prompt int) (input, output float64) {
	input, output = 1, 1
	for _, b := range p.Bands {
		if prompt > b.Above {
			input, output = input*b.Input, output*b.Output
		}
	}
	return input, output
}

func (p Prices) in(prompt int) Prices {
	input, output := p.at(prompt)
	p.Write, p.Read, p.Output = p.Write*input, p.Read*input, p.Output*output
	return p
}

// Below returns the prices of a short prompt, which grows into bands. The receiver has those of a prompt in its band.
func (p Prices) Below(bands []tokens.Band, prompt int) Prices {
	p.Bands = bands
	input, output := p.at(prompt)
	p.Write, p.Read, p.Output = p.Write/input, p.Read/input, p.Output/output
	return p
}

// room returns how many tokens a prompt may grow before its next band begins.
func (p Prices) room(prompt int) int {
	room := math.MaxInt
	for _, b := range p.Bands {
		if prompt <= b.Above {
			room = min(room, b.Above-prompt)
		}
	}
	return room
}

// DefaultPrices returns the price ratios of a model that is not known, with a cache lifetime of five minutes.
func DefaultPrices() Prices {
	return pricesOf("")
}

// pricesOf returns the price ratios of a model, whose cache keeps what is written for five minutes.
func pricesOf(model string) Prices { return PricesFor(model, false, tokens.CacheLife) }

// PricesFor is the same for a cache with a lifetime, with the bands of a prompt in tokens as Claude counts them. The cache of a model
// that is not known keeps entries at marks only if the request is in the form of Anthropic's API.
func PricesFor(model string, anthropic bool, life time.Duration) Prices {
	m, known := tokens.ModelOf(model)
	p := Prices{Write: m.CacheWrite, Read: m.CacheRead, Output: m.Output, LookBack: m.LookBack()}
	if life >= tokens.CacheHour {
		p.Write = m.CacheHour
	}
	if !known && !anthropic {
		p.LookBack = 0
	}
	for _, b := range m.Bands {
		b.Above = int(float64(b.Above) / m.Density())
		p.Bands = append(p.Bands, b)
	}
	return p
}

// BreakEven is the cost of a clearing, the saving of each later call, and the number of
// calls after which the clearing has paid for itself.
type BreakEven struct {
	Cost         float64 `json:"cost"`
	SavedPerCall float64 `json:"saved_per_call"`
	Calls        int     `json:"pays_after_calls"`
}

// BreakEven computes the break-even of clearing freed tokens, when after tokens that are
// kept follow the first of them.
func (p Prices) BreakEven(freed, after int) BreakEven {
	b := BreakEven{Cost: float64(after) * (p.Write - p.Read), SavedPerCall: float64(freed) * p.Read, Calls: math.MaxInt32}
	if b.SavedPerCall > 0 {
		b.Calls = int(math.Ceil(b.Cost / b.SavedPerCall))
	}
	return b
}
