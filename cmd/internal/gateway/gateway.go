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

	"mcp-pruner/tools"
	"mcp-pruner/tools/tokens"
	"mcp-pruner/tools/upstream"
)

// Modes of exposing tools.
const (
	Auto  = "auto" // trim for clients that search tools themselves, group for the others
	Group = string(upstream.Grouped)
	Trim  = string(upstream.Trimmed)
)

// searchTools are the clients that show their model tools' names and let it search
// the rest; docs/GATEWAY.md says which versions were measured.
var searchTools = map[string]bool{"claude-code": true, "codex-mcp-client": true}

// Options is what a gateway is made of.
type Options struct {
	Servers []ServerConfig
	Maps    upstream.Mappings
	Mode    string
	SplitRW bool
	Target  float64
	Freeze  string // file that keeps the grouping; "": none
	Version string
	Env     []string // of upstream processes

	OneClient bool // served over stdio: questions outside of a call go to the client

	Note    func(event string, facts map[string]any) // takes what happens to upstreams
	Stderr  func(server, line string)                // takes what they print on standard error
	Changed func()                                   // called when the list changed after the first one
}

// Names are the servers' names, in their order.
func (o Options) Names() []string {
	names := make([]string, len(o.Servers))
	for i, s := range o.Servers {
		names[i] = s.Name
	}
	return names
}

// Gateway is the upstreams and what is exposed of them.
type Gateway struct {
	options Options
	servers []*server
	frozen  upstream.Mappings

	greeted func(Caller)  // takes the client the first time it is initialized
	ready   chan struct{} // closed then
	client  Caller        // the one client there is, once it is ready

	mu      sync.Mutex
	lists   map[upstream.Mode]*shown
	version int // of what is known of the upstreams
	listed  bool
}

// Open starts every upstream at once and returns without waiting for them.
func Open(o Options) (*Gateway, error) {
	g := &Gateway{options: o, ready: make(chan struct{}), lists: map[upstream.Mode]*shown{}}
	var once sync.Once
	g.greeted = func(c Caller) { once.Do(func() { g.client = c; close(g.ready) }) }
	if err := g.thaw(); err != nil {
		return nil, err
	}
	d := dialer{env: o.Env, stderr: o.Stderr}
	for _, c := range o.Servers {
		s := &server{config: c, version: o.Version, dial: d.dial, outside: g.outside, changed: g.changed, note: o.Note}
		s.life, s.end = context.WithCancel(context.Background())
		s.offer, s.known = recall(c)
		g.servers = append(g.servers, s)
	}
	for _, s := range g.servers {
		go func() { _, _ = s.connect(context.Background()) }()
	}
	return g, nil
}

// Close ends every upstream.
func (g *Gateway) Close() {
	var all sync.WaitGroup
	for _, s := range g.servers {
		all.Go(s.close)
	}
	all.Wait()
}

// Wait waits until every upstream is connected or has failed, at most within. With
// cached true a server whose tools are known from last time is not waited for.
func (g *Gateway) Wait(ctx context.Context, within time.Duration, cached bool) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	var all sync.WaitGroup
	for _, s := range g.servers {
		if _, known, _ := s.list(); known && cached {
			continue
		}
		all.Go(func() { _, _ = s.connect(ctx) })
	}
	all.Wait()
}

// Notified takes a notification of the one client that a gateway over stdio has: that
// it is initialized, and that its roots are others.
func (g *Gateway) Notified(client Caller, method string) {
	switch method {
	case "notifications/initialized":
		g.greeted(client)
	case "notifications/roots/list_changed":
		for _, s := range g.servers {
			go s.tell(s.life, method)
		}
	}
}

// clientWithin is how long an upstream's question waits for the client to be there.
const clientWithin = 20 * time.Second

// outside is the client for what upstreams ask outside of a call: the only one there
// is. Of several, as over HTTP, nobody is asked.
func (g *Gateway) outside(ctx context.Context) Caller {
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

// aboutGroups explains the one thing about grouped tools that their schemas do not say.
const aboutGroups = `Tools with an "action" stand for several tools of another server; action="help" describes all their actions and parameters in full, action="help NAME" one of them.`

// Instructions are those for a client's model: how grouped tools are used, and what
// the upstream servers say of themselves.
func (g *Gateway) Instructions(client string) string {
	var texts []string
	if g.ModeFor(client) == upstream.Grouped {
		texts = append(texts, aboutGroups)
	}
	for _, s := range g.servers {
		if offer, _, _ := s.list(); offer.instructions != "" {
			texts = append(texts, s.config.Name+": "+strings.TrimSpace(offer.instructions))
		}
	}
	return strings.Join(texts, "\n\n")
}

// Check names the tools that a mapping names and a connected server does not have.
func (g *Gateway) Check() error {
	for _, s := range g.servers {
		m, mapped := g.options.Maps[s.config.Name]
		offer, known, _ := s.list()
		if !mapped || !known {
			continue
		}
		if unknown := m.Unknown(offer.tools); len(unknown) > 0 {
			return fmt.Errorf("mapping of server %s: %s", s.config.Name, strings.Join(unknown, "; "))
		}
	}
	return nil
}

// changed forgets the lists that were made and tells whoever saw one.
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

func same(a, b *upstream.List) bool {
	return slices.EqualFunc(a.Tools, b.Tools, func(x, y upstream.Exposed) bool {
		return x.Name == y.Name && x.Description == y.Description && string(x.InputSchema) == string(y.InputSchema)
	})
}

// List is what a client of the given name is offered.
func (g *Gateway) List(client string) *upstream.List { return g.showTo(client).list }

// Tools is what a client of the given name is offered, as tools of a server.
func (g *Gateway) Tools(client string) []tools.Tool { return slices.Clip(g.showTo(client).tools) }

func (g *Gateway) showTo(client string) *shown {
	g.mu.Lock()
	g.listed = true
	g.mu.Unlock()
	return g.show(g.ModeFor(client))
}

// ModeFor is the mode a client gets.
func (g *Gateway) ModeFor(client string) upstream.Mode {
	switch {
	case g.options.Mode == Group:
		return upstream.Grouped
	case g.options.Mode == Trim || searchTools[client]:
		return upstream.Trimmed
	}
	return upstream.Grouped
}

// shown is the list of a mode. It is made once, as every call looks its tool up in it.
type shown struct {
	list  *upstream.List
	tools []tools.Tool
}

func (g *Gateway) list(mode upstream.Mode) *upstream.List { return g.show(mode).list }

// show makes the list of a mode anew when the upstreams' tools changed. Only a list
// that is kept is returned: changed compares with those that clients saw.
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
	return upstream.Options{SplitRW: g.options.SplitRW, Target: g.options.Target, Tokens: tokens.Estimate}
}

// known is what is known of the servers' tools, with their mappings.
func (g *Gateway) known() []upstream.Server {
	var out []upstream.Server
	for _, s := range g.servers {
		offer, known, _ := s.list()
		if !known || len(offer.tools) == 0 {
			continue
		}
		one := upstream.Server{Name: s.config.Name, Tools: offer.tools}
		if m, ok := g.options.Maps[s.config.Name]; ok {
			one.Mapping = &m
		}
		one.Mapping = g.keep(one)
		out = append(out, one)
	}
	return out
}

func (g *Gateway) server(name string) *server {
	for _, s := range g.servers {
		if s.config.Name == name {
			return s
		}
	}
	return nil
}

// thaw reads the kept grouping.
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

// keep returns the grouping of a server that was frozen, freezing it the first
// time its tools are known. Without --freeze it is the operator's, or none.
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
		err = replaceFile(g.options.Freeze, append(raw, '\n'))
	}
	if err != nil {
		g.options.Note("gateway.freeze_failed", map[string]any{"message": err.Error()})
	}
	return &m
}
