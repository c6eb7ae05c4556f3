package bill

import (
	"fmt"
	"strconv"
	"strings"
)

// Prices are relative to the price of one fresh input token.
type Prices struct {
	Input, CacheWrite, CacheRead, Output float64
}

// DefaultPrices are the ratios in Anthropic's price list with the 5-minute cache.
var DefaultPrices = Prices{Input: 1, CacheWrite: 1.25, CacheRead: 0.1, Output: 5}

// ParsePrices parses "input=1,cache_write=1.25,cache_read=0.1,output=5". Missing prices keep their
// defaults.
func ParsePrices(s string) (Prices, error) {
	p := DefaultPrices
	fields := map[string]*float64{"input": &p.Input, "cache_write": &p.CacheWrite, "cache_read": &p.CacheRead, "output": &p.Output}
	for item := range strings.SplitSeq(s, ",") {
		if item = strings.TrimSpace(item); item == "" {
			continue
		}
		name, value, _ := strings.Cut(item, "=")
		field := fields[strings.TrimSpace(name)]
		if field == nil {
			return p, fmt.Errorf("unknown price %q: want input, cache_write, cache_read or output", name)
		}
		number, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
		if err != nil || number < 0 || number > 1e6 {
			return p, fmt.Errorf("price %s=%q: want a number from 0 to 1000000", name, value)
		}
		*field = number
	}
	return p, nil
}

func (p Prices) String() string {
	return fmt.Sprintf("input %g, cache write %g, cache read %g, output %g", p.Input, p.CacheWrite, p.CacheRead, p.Output)
}
