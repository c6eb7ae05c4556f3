// Package gateway offers the tools of other MCP servers (upstreams) as its own, grouped or shortened by package upstream.
package gateway

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mcp-pruner/mcp-pruner/tools"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
	"github.com/mcp-pruner/mcp-pruner/tools/files/replace"
	"github.com/mcp-pruner/mcp-pruner/tools/tokens"
	"github.com/mcp-pruner/mcp-pruner/tools/upstream"
	"github.com/mcp-pruner/mcp-pruner/tools/upstream/connect"
)

// Modes of offering tools.
const (
	Auto  = "auto" // trim for clients with a tool search of their own, group for the others
	Group = string(upstream.Grouped)
	Trim  = string(upstream.Trimmed)
)

// Options configure a gateway.
type Options struct {
	Servers []connect.Config
	Maps    upstream.Mappings
	Mode    string
	SplitRW bool
	Bare    bool // tools keep their names; for exactly one server
	Target  float64
	Freeze  string // file that keeps the grouping; "": none
	Version string
	Env     []string // of upstream processes

	OneClient bool // served over stdio: requests outside of a call go to the only client

	Note    func(event string, facts map[string]any) // receives events about upstreams
	Stderr  func(server, line string)                // receives the lines of their standard error
	Changed func()                                   // called when the list changes after it was first shown
}

// Names returns the servers' names in order.
func (o Options) Names() []string {
	names := make([]string, len(o.Servers))
	for i, s := range o.Servers {
		names[i] = s.Name
	}
	return names
}

// Gateway holds the upstreams and the tools offered from them.
type Gateway struct {
	options Options
	servers []*connect.Server
	frozen  upstream.Mappings

	greeted func(connect.Caller) // called with the client when it is initialized for the first time
	ready   chan struct{}        // closed at that time
	client  connect.Caller       // the only client, valid after ready

	mu      sync.Mutex
	lists   map[upstream.Mode]*shown
	version int // incremented when an upstream's tools change
	listed  bool
}

// Open starts all upstreams concurrently and returns without waiting for them.
func Open(o Options) (*Gateway, error) {
	g := &Gateway{options: o, ready: make(chan struct{}), lists: map[upstream.Mode]*shown{}}
	var once sync.Once
	g.greeted = func(c connect.Caller) { once.Do(func() { g.client = c; close(g.ready) }) }
	if err := g.thaw(); err != nil {
		return nil, err
	}
	if err := g.checkNames(); err != nil {
		return nil, err
	}
	shared := connect.Options{Version: o.Version, Env: o.Env, Outside: g.outside, Note: o.Note, Stderr: o.Stderr, Changed: g.changed}
	for _, c := range o.Servers {
		g.servers = append(g.servers, connect.New(c, shared))
	}
	for _, s := range g.servers {
		go func() { _ = s.Connect(context.Background()) }()
	}
	return g, nil
}

// checkNames returns an error if the tools of two servers could not be told apart by their names.
func (g *Gateway) checkNames() error {
	if g.options.Bare && len(g.options.Servers) != 1 {
		return fmt.Errorf("without the server's name in front, tools of several servers could be confused: --bare takes a configuration with "+
			"exactly one server, and this one has %s", strings.Join(g.options.Names(), ", "))
	}
	var servers []upstream.Server
	for _, c := range g.options.Servers {
		servers = append(servers, upstream.Server{Name: c.Name, Mapping: g.mapping(c.Name)})
	}
	return upstream.CheckPrefixes(servers)
}

// mapping returns a server's stored grouping, else the operator's, or nil.
func (g *Gateway) mapping(server string) *upstream.Mapping {
	for _, maps := range []upstream.Mappings{g.frozen, g.options.Maps} {
		if m, ok := maps[server]; ok {
			return &m
		}
	}
	return nil
}

// Close ends every upstream.
func (g *Gateway) Close() {
	var all sync.WaitGroup
	for _, s := range g.servers {
		all.Go(s.Close)
	}
	all.Wait()
}

// Wait waits until every upstream is connected or has failed, for at most within. With cached set, it does
// not wait for servers whose tools are known from the last start.
func (g *Gateway) Wait(ctx context.Context, within time.Duration, cached bool) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	var all sync.WaitGroup
	for _, s := range g.servers {
		if _, known, _ := s.Offer(); known && cached {
			continue
		}
		all.Go(func() { _ = s.Connect(ctx) })
	}
	all.Wait()
}

// Notified handles a notification from the only client of a gateway over stdio: that it is initialized, or
// that its roots have changed. With several clients, whose roots are not given to the upstreams outside of a call, it
// does nothing.
func (g *Gateway) Notified(client connect.Caller, method string) {
	if !g.options.OneClient {
		return
	}
	switch method {
	case "notifications/initialized":
		g.greeted(client)
	case "notifications/roots/list_changed":
		for _, s := range g.servers {
			go s.Tell(method)
		}
	}
}

// clientWithin is the time for which an upstream's request waits for the client to be initialized.
const clientWithin = 20 * time.Second

// outside returns the client that answers upstreams' requests outside of a call: the only client. With
// several clients, as over HTTP, it returns nil.
func (g *Gateway) outside(ctx context.Context) connect.Caller {
	if !g.options.OneClient {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, clientWithin)
	defer cancel()
	select {
	case <-g.ready:
		return g.client
	case <-ctx.Done():
		return nil
	}
}

// aboutGroups explains the use of grouped tools that their schemas do not show.
const aboutGroups = `Tools with an "action" stand for several tools of another server; action="help" describes all their actions and parameters in full, action="help NAME" one of them. A tool without actions takes action="help", too.`

// Instructions returns the instructions for a client's model: how to use grouped tools, and the
// instructions of the upstream servers.
func (g *Gateway) Instructions(client string) string {
	var texts []string
	if g.ModeFor(client) == upstream.Grouped {
		texts = append(texts, aboutGroups)
	}
	for _, s := range g.servers {
		if offer, _, _ := s.Offer(); offer.Instructions != "" {
			texts = append(texts, s.Name()+": "+strings.TrimSpace(offer.Instructions))
		}
	}
	return strings.Join(texts, "\n\n")
}

// Check returns an error that names the tools in a mapping that a connected server does not have.
func (g *Gateway) Check() error {
	for _, s := range g.servers {
		m, mapped := g.options.Maps[s.Name()]
		offer, known, _ := s.Offer()
		if !mapped || !known {
			continue
		}
		if unknown := m.Unknown(offer.Tools); len(unknown) > 0 {
			return fmt.Errorf("mapping of server %s: %s", s.Name(), strings.Join(unknown, "; "))
		}
	}
	return nil
}

// changed discards the lists made so far and notifies the clients that have seen one.
func (g *Gateway) changed() {
	g.mu.Lock()
	before := g.lists
	g.lists = map[upstream.Mode]*shown{}
	g.version++
	tell := g.listed && g.options.Changed != nil
	g.mu.Unlock()
	if !tell {
		return
	}
	for mode, old := range before {
		if !same(old.list, g.list(mode)) {
			g.options.Changed()
			return
		}
	}
}

func same(a, b []upstream.Exposed) bool {
	return slices.EqualFunc(a, b, func(x, y upstream.Exposed) bool {
		return x.Name == y.Name && x.Description == y.Description && string(x.InputSchema) == string(y.InputSchema)
	})
}

// Tools returns the list of tools for a client with the given name.
func (g *Gateway) Tools(client string) []tools.Tool {
	g.mu.Lock()
	g.listed = true
	g.mu.Unlock()
	return slices.Clip(g.show(g.ModeFor(client)).tools)
}

// ModeFor returns the mode of a client.
func (g *Gateway) ModeFor(client string) upstream.Mode {
	switch {
	case g.options.Mode == Group:
		return upstream.Grouped
	case g.options.Mode == Trim || agent.Announced(client).SearchesTools:
		return upstream.Trimmed
	}
	return upstream.Grouped
}

// shown is the list of a mode. It is made once, because every call looks up its tool in it.
type shown struct {
	list  []upstream.Exposed
	tools []tools.Tool
}

func (g *Gateway) list(mode upstream.Mode) []upstream.Exposed { return g.show(mode).list }

// show returns the list of a mode and makes it again if the upstreams' tools changed. Every list it returns
// is also stored, because changed compares with the lists that clients have seen.
func (g *Gateway) show(mode upstream.Mode) *shown {
	for {
		g.mu.Lock()
		there, version := g.lists[mode], g.version
		g.mu.Unlock()
		if there != nil {
			return there
		}
		list := upstream.Build(g.known(), mode, g.upstreamOptions())
		there = &shown{list, g.toolsOf(list)}
		g.mu.Lock()
		if g.version == version {
			g.lists[mode] = there
		}
		g.mu.Unlock()
	}
}

func (g *Gateway) upstreamOptions() upstream.Options {
	return upstream.Options{SplitRW: g.options.SplitRW, Bare: g.options.Bare, Target: g.options.Target, Tokens: tokens.Estimate}
}

// known returns the known tools of the servers, with their mappings.
func (g *Gateway) known() []upstream.Server {
	var out []upstream.Server
	for _, s := range g.servers {
		offer, known, _ := s.Offer()
		if !known || len(offer.Tools) == 0 {
			continue
		}
		one := upstream.Server{Name: s.Name(), Tools: offer.Tools}
		if m, ok := g.options.Maps[s.Name()]; ok {
			one.Mapping = &m
		}
		one.Mapping = g.keep(one)
		out = append(out, one)
	}
	return out
}

func (g *Gateway) server(name string) *connect.Server {
	for _, s := range g.servers {
		if s.Name() == name {
			return s
		}
	}
	return nil
}

// thaw reads the stored grouping.
func (g *Gateway) thaw() error {
	g.frozen = upstream.Mappings{}
	if g.options.Freeze == "" {
		return nil
	}
	raw, err := os.ReadFile(g.options.Freeze)
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		return err
	}
	var file struct {
		Servers upstream.Mappings `json:"servers"`
	}
	if err := json.Unmarshal(raw, &file); err != nil {
		return fmt.Errorf("the frozen grouping %s is not JSON: %w; delete it to make it anew", g.options.Freeze, err)
	}
	if file.Servers != nil {
		g.frozen = file.Servers
	}
	return nil
}

// keep returns the stored grouping of a server and stores it the first time its tools are known. Without
// --freeze it returns the operator's grouping, or nil.
func (g *Gateway) keep(s upstream.Server) *upstream.Mapping {
	if g.options.Freeze == "" {
		return s.Mapping
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if m, ok := g.frozen[s.Name]; ok {
		return &m
	}
	m := upstream.Frozen(s)
	g.frozen[s.Name] = m
	raw, err := json.MarshalIndent(map[string]any{"servers": g.frozen}, "", "  ")
	if err == nil {
		err = (replace.File{Path: g.options.Freeze}).Write(append(raw, '\n'))
	}
	if err != nil {
		g.options.Note("gateway.freeze_failed", map[string]any{"message": err.Error()})
	}
	return &m
}
