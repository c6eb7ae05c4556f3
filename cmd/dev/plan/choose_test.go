package main

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mcp-pruner/mcp-pruner/states/replay"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
)

// Set a: of a bill of 200, 30 are saved and 4 read again; the rule saves 40, so that 5 points count twice more: 15 - 2 - 10. Set b:
// one of two sessions loses 3 %: (-3 + 1) / 200 - 25.
func TestScoreOnPaper(t *testing.T) {
	all := []recorded{{set: "a", bill: 200, fixed: 40}, {set: "b", bill: 100, fixed: -100}, {set: "b", bill: 100}, {set: "c", bill: 100}}
	got := []result{{30, 4}, {-3, 0}, {1, 0}, {50, 0}}
	assert.InDelta(t, (3+(-1-25))/2., score(all, got, func(r recorded) bool { return r.set != "c" }), 1e-9)
	assert.InDelta(t, 50, score(all, got, func(r recorded) bool { return r.set == "c" }), 1e-9)
}

// A constant is changed where that gains enough on the sessions that count, and nowhere else.
func TestChoose(t *testing.T) {
	c := chooser{all: []recorded{{set: "a", bill: 100, tape: replay.Tape{}}, {set: "b", bill: 100}}, known: map[string][]result{}}
	now := contextgc.DefaultPolicy()
	better := now
	better.MaxPay = 15
	for _, k := range knobs {
		for _, v := range k.values {
			p := now
			k.set(&p, v)
			c.known[fmt.Sprint(p)] = []result{{10, 0}, {10, 0}}
			q := better
			k.set(&q, v)
			c.known[fmt.Sprint(q)] = []result{{10, 0}, {10, 0}}
		}
	}
	c.known[fmt.Sprint(now)], c.known[fmt.Sprint(better)] = []result{{10, 0}, {10, 0}}, []result{{12, 0}, {0, 0}}
	assert.Equal(t, "MaxPay 15", constants(c.choose(now, func(r recorded) bool { return r.set == "a" })))
	assert.Equal(t, "as they are", constants(c.choose(now, func(r recorded) bool { return r.set == "b" })))
	assert.Contains(t, table(c.all, c.known[fmt.Sprint(better)], nil), "| a | 1 | +12.00 % | 0.00 | +0.00 % | 0.0 % | 0 |")
}
