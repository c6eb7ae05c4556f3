package upstream

import (
	"slices"
	"sync"
)

// DefaultTarget is the default fraction of a list's tokens to remove. A lower target keeps
// more prose.
const DefaultTarget = .80

// When a small server cannot reach the target, the whole list stays above it. The largest
// servers then remove fairStep more each, at most fairRounds times, until the list reaches
// the target. With more rounds, tools become harder to find (see TestFindability).
const (
	fairStep   = 0.02
	fairRounds = 3
)

// Build builds the list of all servers: sorted within a server, servers in the order given. The target applies to the whole list: large servers
// make up for small ones that cannot reach it.
func Build(servers []Server, mode Mode, o Options) []Exposed {
	forms, parts, after := make([]*texts, len(servers)), make([][]Exposed, len(servers)), make([]int, len(servers))
	var all sync.WaitGroup
	for i, s := range servers {
		all.Go(func() {
			forms[i] = newTexts(s, mode, o)
			parts[i], after[i] = forms[i].fitting(o.Target)
		})
	}
	all.Wait()
	raw, now := 0, 0
	bySize := make([]int, len(servers))
	for i := range servers {
		raw, now = raw+forms[i].raw, now+after[i]
		bySize[i] = i
	}
	slices.SortStableFunc(bySize, func(i, j int) int { return forms[j].raw - forms[i].raw })
	allowed := float64(raw) * (1 - o.Target)
	rounds := fairRounds
	if o.SplitRW { // more tools to tell apart, which takes all the prose there is
		rounds = 0
	}
	for range rounds {
		o.Target += fairStep
		for _, i := range bySize {
			if float64(now) <= allowed {
				return slices.Concat(parts...)
			}
			before := after[i]
			parts[i], after[i] = forms[i].fitting(o.Target)
			now += after[i] - before
		}
	}
	return slices.Concat(parts...)
}
