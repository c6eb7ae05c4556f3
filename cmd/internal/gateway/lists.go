package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"slices"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/mcp/mcpserver"
	"github.com/mcp-pruner/mcp-pruner/tools"
	"github.com/mcp-pruner/mcp-pruner/tools/upstream"
)

// shown is the list of a mode. It is made once, because every call looks up its tool in it.
type shown struct {
	list    []upstream.Exposed
	tools   []tools.Tool
	version int
}

func (g *Gateway) list(mode upstream.Mode) []upstream.Exposed { return g.show(mode).list }

// show returns the last list of a mode that was made. The making of the next one, which may take long, must not stop the calls
// of servers that have not changed.
func (g *Gateway) show(mode upstream.Mode) *shown {
	g.mu.Lock()
	if _, wanted := g.lists[mode]; !wanted {
		g.lists[mode] = nil
		g.make()
	}
	g.mu.Unlock()
	g.settle(context.Background(), func() bool { return g.lists[mode] != nil })
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.lists[mode]
}

// settle waits until all lists are made, or there are enough.
func (g *Gateway) settle(ctx context.Context, enough func() bool) {
	for ctx.Err() == nil {
		g.mu.Lock()
		making, done := g.making, enough()
		g.mu.Unlock()
		if making == nil || done {
			return
		}
		select {
		case <-making:
		case <-ctx.Done():
		}
	}
}

// remake has all that was made of the upstreams' offers made again. g.mu is locked.
func (g *Gateway) remake() {
	g.version, g.offered = g.version+1, nil
	g.make()
}

// make starts to make lists, unless that is in progress. g.mu is locked.
func (g *Gateway) make() {
	if g.making == nil {
		g.making = make(chan struct{})
		go g.makeLists()
	}
}

// makeLists makes lists again until all are of the current version, and tells the clients when a list has changed.
func (g *Gateway) makeLists() {
	for old, version := g.outdated(); len(old) > 0; old, version = g.outdated() {
		differ := false
		for mode, before := range old {
			list := upstream.Build(g.known(), mode, g.upstreamOptions())
			now := &shown{list, g.toolsOf(mode, list), version}
			differ = differ || before != nil && !same(before.list, list)
			g.mu.Lock()
			g.lists[mode] = now
			g.mu.Unlock()
		}
		if differ && g.options.Changed != nil {
			g.options.Changed(mcpserver.ToolsList)
		}
	}
}

// outdated returns the lists that have to be made again, and the version of the offers to make them from. It wakes those who wait for a list.
func (g *Gateway) outdated() (old map[upstream.Mode]*shown, version int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	old = maps.Clone(g.lists)
	maps.DeleteFunc(old, func(_ upstream.Mode, l *shown) bool { return l != nil && l.version == g.version })
	close(g.making)
	g.making = nil
	if len(old) > 0 {
		g.making = make(chan struct{})
	}
	return old, g.version
}

// same reports whether two lists are the same in all that clients see.
func same(a, b []upstream.Exposed) bool {
	return slices.EqualFunc(a, b, func(x, y upstream.Exposed) bool {
		return bytes.Equal(x.Wire(), y.Wire()) && maps.EqualFunc(x.More, y.More, func(a, b json.RawMessage) bool { return string(a) == string(b) })
	})
}
