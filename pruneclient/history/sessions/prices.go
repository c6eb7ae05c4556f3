package sessions

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/tools/agent"
	"github.com/mcp-pruner/mcp-pruner/tools/tokens"
)

// Prices are relative to the price of one fresh input token.
type Prices = tokens.Prices

// DefaultPrices are those of a session that names no model.
var DefaultPrices = modelNamed("").Prices

func modelNamed(name string) tokens.Model {
	m, _ := tokens.ModelOf(name)
	return m
}

// modelOf returns the row of a model. Of a session that names none, but reads from a cache that was never written to, it is
// OpenAI's oldest.
func modelOf(s Session, name string) tokens.Model {
	m, known := tokens.ModelOf(name)
	if known || strings.Contains(strings.ToLower(name), "claude") || s.Source != agent.Codex.Name && !s.onlyReads() {
		return m
	}
	return modelNamed("gpt-5")
}

// As returns the session as if one model had made all of its calls, with the tokens that were counted. A cache without marks is written by
// all that is fresh.
func (s Session) As(model string) Session {
	s.Steps = slices.Clone(s.Steps)
	for i := range s.Steps {
		step := &s.Steps[i]
		if step.Kind != Call {
			continue
		}
		step.Model = model
		if step.Usage != nil && modelNamed(model).LookBack() == 0 {
			u := *step.Usage
			step.Usage = &Usage{CacheWrite: u.Input + u.CacheWrite, CacheRead: u.CacheRead, Output: u.Output}
		}
	}
	return s
}

// onlyReads reports whether the usage reads from a cache and never writes to it.
func (s Session) onlyReads() bool {
	wrote, read := 0, 0
	for _, step := range s.Steps {
		if step.Kind == Call && step.Usage != nil {
			wrote, read = wrote+step.Usage.CacheWrite, read+step.Usage.CacheRead
		}
	}
	return wrote == 0 && read > 0
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

// ParsePrices parses "input=1,cache_read=0.25,output=4". Missing prices are those of the model.
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
