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
	parts, sizes, after := make([][]Exposed, len(servers)), make([]int, len(servers)), make([]int, len(servers))
	var all sync.WaitGroup
	for i, s := range servers {
		all.Go(func() {
			parts[i], sizes[i] = Expose(s, mode, o), RawTokens(s.Tools, o.Tokens)
			after[i] = ListTokens(parts[i], o.Tokens)
		})
	}
	all.Wait()
	raw, now := 0, 0
	for i := range servers {
		raw, now = raw+sizes[i], now+after[i]
	}
	bySize := make([]int, len(servers))
	for i := range bySize {
		bySize[i] = i
	}
	slices.SortStableFunc(bySize, func(i, j int) int { return sizes[j] - sizes[i] })
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
			before := ListTokens(parts[i], o.Tokens)
			parts[i] = Expose(servers[i], mode, o)
			now += ListTokens(parts[i], o.Tokens) - before
		}
	}
	return slices.Concat(parts...)
}

// Frozen returns the grouping of a server as a mapping, for --freeze to save.
func Frozen(s Server) Mapping {
	m := s.mapping()
	if len(m.Groups) == 0 {
		m.Groups = autoGroup(m.Namespace, s.Tools, m.routed()).Groups
	}
	return m
}
