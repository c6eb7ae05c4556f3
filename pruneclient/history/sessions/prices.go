package sessions

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

// Prices are relative to the price of one fresh input token.
type Prices struct {
	Provider string // "" after a change by the user

	Input, CacheWrite, CacheRead, Output float64

	CacheHour float64 // a cache write that lasts an hour
}

// The ratios in the price lists of 2026.
var (
	// DefaultPrices are Anthropic's, whose cache lasts five minutes unless an hour is paid for.
	DefaultPrices = Prices{Provider: "Anthropic", Input: 1, CacheWrite: 1.25, CacheRead: 0.1, Output: 5, CacheHour: 2}

	// OpenAI and Google cache by themselves, at no premium.
	openAI = Prices{Provider: "OpenAI", Input: 1, CacheWrite: 1, CacheRead: 0.1, Output: 8, CacheHour: 1}
	google = Prices{Provider: "Google", Input: 1, CacheWrite: 1, CacheRead: 0.1, Output: 6, CacheHour: 1}
)

// PricesOf returns the prices of a session, by the name of its model. A session that names none but reads from a cache that
// was never written to is OpenAI's.
func PricesOf(s Session) Prices {
	model := strings.ToLower(s.Model())
	switch {
	case strings.Contains(model, "claude"):
		return DefaultPrices
	case strings.Contains(model, "gpt") || strings.Contains(model, "codex") || s.Source == agent.Codex.Name:
		return openAI
	case strings.Contains(model, "gemini"):
		return google
	}
	wrote, read := 0, 0
	for _, step := range s.Steps {
		if step.Kind == Call && step.Usage != nil {
			wrote, read = wrote+step.Usage.CacheWrite, read+step.Usage.CacheRead
		}
	}
	if wrote == 0 && read > 0 {
		return openAI
	}
	return DefaultPrices
}

// PriceOverride holds the prices that the user sets, by their names in --prices.
type PriceOverride map[string]float64

var priceNames = map[string]func(*Prices) *float64{
	"input":       func(p *Prices) *float64 { return &p.Input },
	"cache_write": func(p *Prices) *float64 { return &p.CacheWrite },
	"cache_hour":  func(p *Prices) *float64 { return &p.CacheHour },
	"cache_read":  func(p *Prices) *float64 { return &p.CacheRead },
	"output":      func(p *Prices) *float64 { return &p.Output },
}

// On returns prices with the override applied.
func (o PriceOverride) On(p Prices) Prices {
	for name, price := range o {
		*priceNames[name](&p) = price
		p.Provider = ""
	}
	return p
}

// ParsePrices parses "input=1,cache_write=1.25,cache_read=0.1,output=5". Missing prices are those of the provider.
func ParsePrices(s string) (PriceOverride, error) {
	o := PriceOverride{}
	for item := range strings.SplitSeq(s, ",") {
		if item = strings.TrimSpace(item); item == "" {
			continue
		}
		name, value, _ := strings.Cut(item, "=")
		name = strings.TrimSpace(name)
		if priceNames[name] == nil {
			return nil, fmt.Errorf("unknown price %q: want %s", name, strings.Join(slices.Sorted(maps.Keys(priceNames)), ", "))
		}
		number, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
		if err != nil || number < 0 || number > 1e6 {
			return nil, fmt.Errorf("price %s=%q: want a number from 0 to 1000000", name, value)
		}
		o[name] = number
	}
	return o, nil
}

func (p Prices) String() string {
	text := fmt.Sprintf("input %g, cache write %g, cache read %g, output %g", p.Input, p.CacheWrite, p.CacheRead, p.Output)
	if p.CacheHour != p.CacheWrite {
		text += fmt.Sprintf(", write for an hour %g", p.CacheHour)
	}
	if p.Provider != "" {
		text = p.Provider + ": " + text
	}
	return text
}
