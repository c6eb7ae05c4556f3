package main

import (
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
)

// result is what a policy saves in one session.
type result struct{ saved, reread float64 }

// results plays all sessions.
func results(all []recorded, p contextgc.Policy) []result {
	out := make([]result, len(all))
	var work sync.WaitGroup
	for n := range runtime.GOMAXPROCS(0) {
		work.Go(func() {
			for i := n; i < len(all); i += runtime.GOMAXPROCS(0) {
				rule := all[i].policy(p)
				b := all[i].tape.Play(rule, rule, false)
				out[i] = result{b.Before - b.After, b.Reread}
			}
		})
	}
	work.Wait()
	return out
}

// figures are those of a set, in percent of its bill.
type figures struct {
	sessions           int
	saved, again, rule float64
	worst              float64
	losing             int // sessions that lose more than lossy
}

// lossy is the loss in percent of a session's bill that none should exceed.
const lossy = 2

func bySet(all []recorded, got []result, in func(recorded) bool) map[string]figures {
	sets, bills := map[string]figures{}, map[string]float64{}
	for i, r := range all {
		if in != nil && !in(r) || r.bill == 0 {
			continue
		}
		f := sets[r.set]
		net := 100 * got[i].saved / r.bill
		f.sessions++
		f.saved, f.again, f.rule = f.saved+got[i].saved, f.again+got[i].reread, f.rule+r.fixed
		f.worst = min(f.worst, net)
		if net < -lossy {
			f.losing++
		}
		sets[r.set] = f
		bills[r.set] += r.bill
	}
	for name, f := range sets {
		of := 100 / bills[name]
		f.saved, f.again, f.rule = f.saved*of, f.again*of, f.rule*of
		sets[name] = f
	}
	return sets
}

// score is the mean saving of the sets with misses counted twice. What a set saves less than by the fixed rule counts twice more, and each
// percent of sessions that lose too much costs half a point.
func score(all []recorded, got []result, in func(recorded) bool) float64 {
	sets := bySet(all, got, in)
	sum := 0.0
	for _, name := range slices.Sorted(maps.Keys(sets)) {
		f := sets[name]
		sum += f.saved - f.again + 2*min(0, f.saved-f.rule) - .5*100*float64(f.losing)/float64(f.sessions)
	}
	return sum / float64(max(len(sets), 1))
}

// knob is a constant with the values to try.
type knob struct {
	name   string
	of     func(*contextgc.Policy) *float64
	count  func(*contextgc.Policy) *int // instead of of
	values []float64
}

// The constants that say what is never cleared are not tried: below today's values the needs that replay sees are no longer all that
// a model has.
var knobs = []knob{
	{name: "MaxLoss", of: func(p *contextgc.Policy) *float64 { return &p.MaxLoss }, values: []float64{.0025, .005, .0075, .01, .015, .02}},
	{name: "MaxOnce", of: func(p *contextgc.Policy) *float64 { return &p.MaxOnce }, values: []float64{.01, .015, .02, .03, .05, 1}},
	{name: "Ends", of: func(p *contextgc.Policy) *float64 { return &p.Ends }, values: []float64{.03, .05, .1, .15, .2, .3}},
	{name: "GoesOn", of: func(p *contextgc.Policy) *float64 { return &p.GoesOn }, values: []float64{.5, .7, 1, 1.5}},
	{name: "Deviations", of: func(p *contextgc.Policy) *float64 { return &p.Deviations }, values: []float64{1, 2, 3, 4}},
	{name: "MinFreedOf", of: func(p *contextgc.Policy) *float64 { return &p.MinFreedOf }, values: []float64{.1, .15, .2, .25, .3}},
	{name: "MinFreed", count: func(p *contextgc.Policy) *int { return &p.MinFreed }, values: []float64{1500, 3000, 5000}},
	{name: "MinFreedFree", count: func(p *contextgc.Policy) *int { return &p.MinFreedFree }, values: []float64{250, 500, 1000, 2000}},
	{name: "MaxPay", count: func(p *contextgc.Policy) *int { return &p.MaxPay }, values: []float64{6, 10, 15, 20}},
	{name: "Horizon", count: func(p *contextgc.Policy) *int { return &p.Horizon }, values: []float64{40, 60, 100}},
}

func (k knob) set(p *contextgc.Policy, v float64) {
	if k.count != nil {
		*k.count(p) = int(v)
		return
	}
	*k.of(p) = v
}

func (k knob) value(p contextgc.Policy) float64 {
	if k.count != nil {
		return float64(*k.count(&p))
	}
	return *k.of(&p)
}

// enough is what a change of one constant has to be worth, in points, so that no constant follows chance.
const enough = .02

// chooser remembers what policies save.
type chooser struct {
	all   []recorded
	known map[string][]result // by the policy in words
}

func (c *chooser) results(p contextgc.Policy) []result {
	key := fmt.Sprint(p)
	if c.known[key] == nil {
		c.known[key] = results(c.all, p)
	}
	return c.known[key]
}

// choose improves a policy on some sessions, one constant after the other, as long as that gains enough.
func (c *chooser) choose(p contextgc.Policy, in func(recorded) bool) contextgc.Policy {
	best := score(c.all, c.results(p), in)
	for changed := true; changed; {
		changed = false
		for _, k := range knobs {
			better := p
			for _, v := range k.values {
				try := p
				k.set(&try, v)
				if s := score(c.all, c.results(try), in); s > best+enough {
					best, better, changed = s, try, true
				}
			}
			p = better
		}
	}
	return p
}

// constants lists the constants that differ from the product's.
func constants(p contextgc.Policy) string {
	var list []string
	for _, k := range knobs {
		if v := k.value(p); v != k.value(contextgc.DefaultPolicy()) {
			list = append(list, fmt.Sprintf("%s %g", k.name, v))
		}
	}
	if list == nil {
		return "as they are"
	}
	return strings.Join(list, ", ")
}

func table(all []recorded, got []result, in func(recorded) bool) string {
	var b strings.Builder
	b.WriteString("\n| set | sessions | planner | reading again | fixed rule | worst | lose more than 2 % |\n|---|---|---|---|---|---|---|\n")
	sets := bySet(all, got, in)
	for _, name := range slices.Sorted(maps.Keys(sets)) {
		f := sets[name]
		fmt.Fprintf(&b, "| %s | %d | %+.2f %% | %.2f | %+.2f %% | %.1f %% | %d |\n", name, f.sessions, f.saved, f.again, f.rule, f.worst, f.losing)
	}
	return b.String()
}
