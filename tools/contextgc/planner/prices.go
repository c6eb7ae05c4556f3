package planner

import "math"

// Prices are relative to one fresh input token.
type Prices struct {
	Write  float64 `json:"write"`  // a token written to the prompt cache
	Read   float64 `json:"read"`   // a token read from it
	Output float64 `json:"output"` // a token the model produces
}

// DefaultPrices are Anthropic's ratios, with a cache that lives for five minutes.
func DefaultPrices() Prices { return Prices{Write: 1.25, Read: 0.1, Output: 5} }

// BreakEven says what clearing costs, what each later call then saves, and after how
// many calls it has paid.
type BreakEven struct {
	Cost         float64 `json:"cost"`
	SavedPerCall float64 `json:"saved_per_call"`
	Calls        int     `json:"pays_after_calls"`
}

// BreakEven computes it for clearing freed tokens, the first of which have after
// tokens behind them that stay.
func (p Prices) BreakEven(freed, after int) BreakEven {
	b := BreakEven{Cost: float64(after) * (p.Write - p.Read), SavedPerCall: float64(freed) * p.Read, Calls: math.MaxInt32}
	if b.SavedPerCall > 0 {
		b.Calls = int(math.Ceil(b.Cost / b.SavedPerCall))
	}
	return b
}
