// Package gateway offers the tools of other MCP servers (upstreams) as its own, grouped or shortened by package upstream.
// For models whose client has no tool search of its own it ranks these tools by the steps of a task (find*.go).
package gateway

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/mcp/mcpserver"
	"github.com/mcp-pruner/mcp-pruner/tools"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
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
	Wrap    bool // in front of one server: its instructions are its own, nothing is added to its tools, and those with an output schema stay whole
	Target  float64
	Version string
	Env     []string // of upstream processes

	// SubjectToken returns a token that servers want from a subject; "" is the owner of the machine, and the gateway itself when
	// it asks what servers have. nil: there are no tokens.
	SubjectToken func(subject, name string) (string, error)

	OneClient bool           // served over stdio: the servers are started for the only client, with its capabilities
	Limits    connect.Limits // of clients' connections over HTTP

	Note    func(event string, facts map[string]any) // receives events about upstreams
	Stderr  func(server, line string)                // receives the lines of their standard error
	Changed func(lists ...string)                    // called when lists change after the first client came
}

// Names returns the servers' names in order.
func (o Options) Names() []string {
	names := make([]string, len(o.Servers))
	for i, s := range o.Servers {
		names[i] = s.Name
	}
	return names
}

// NameOf returns a name for the server that a command starts: of a launcher's arguments the first that is none of its options.
func NameOf(line []string) string {
	name := strings.TrimSuffix(filepath.Base(line[0]), filepath.Ext(line[0]))
	if slices.Contains([]string{"npx", "bunx", "uvx", "node", "python", "python3", "pipx", "deno", "docker"}, name) {
		for _, word := range line[1:] {
			if !strings.HasPrefix(word, "-") && word != "run" && word != "exec" {
				return filepath.Base(word)
			}
		}
	}
	return name
}

// tokens returns the tokens of a subject.
func (o Options) tokens(subject string) func(name string) (string, error) {
	if o.SubjectToken == nil {
		return nil
	}
	return func(name string) (string, error) { return o.SubjectToken(subject, name) }
}

// Gateway holds the upstreams and the tools offered from them.
type Gateway struct {
	options Options
	servers []*connect.Server

	life    context.Context // ended by Close
	end     context.CancelFunc
	started time.Time
	starts  sync.Once // of the servers
	said    sync.Once // that results are not cut
	links   links
	given   given
	rounds  rounds

	mu      sync.Mutex
	lists   map[upstream.Mode]*shown // the last ones made; nil: the first is wanted
	making  chan struct{}            // closed when lists are made; nil: all are those of the version
	offered *catalog                 // nil: it has to be made anew
	version int                      // incremented when an upstream's offer changes
	unknown map[string]string        // what was noted of tools that a server's mapping names and it does not have
}

// Open makes a gateway and starts all upstreams concurrently, without waiting for them. Those of an only client are
// started when that has said what it can do.
func Open(o Options) (*Gateway, error) {
	g := &Gateway{options: o, started: time.Now(), lists: map[upstream.Mode]*shown{}, unknown: map[string]string{}, links: newLinks(o.Limits), rounds: rounds{waiting: map[string]*round{}}}
	g.life, g.end = context.WithCancel(context.Background())
	if err := g.checkNames(); err != nil {
		return nil, err
	}
	shared := connect.Options{Version: o.Version, Env: o.Env, Persistent: true, Note: o.Note, Stderr: o.Stderr, Changed: g.changed, Token: o.tokens("")}
	for _, c := range g.options.Servers {
		g.servers = append(g.servers, connect.New(c, shared))
		if c.Problem != "" {
			o.Note("gateway.upstream_failed", map[string]any{"upstream": c.Name, "duration_ms": 0, "message": c.Problem})
		}
	}
	if !o.OneClient {
		g.start()
	}
	return g, nil
}

func (g *Gateway) start() {
	for _, s := range g.servers {
		go func() { _ = s.Connect(g.life) }()
	}
}

// greetWithin is the time that a client's first request may wait for servers whose offer, or whose hints, nobody knows.
const greetWithin = 2 * time.Second

// wrapWithin is the same for a server that the gateway wraps; npx may download it first.
const wrapWithin = 60 * time.Second

// greet starts the servers of an only client, and waits for those whose offer is not known, or is stored with hints that do not
// count yet: a client that ignores changed lists would ask before each call that only reads. What comes later is announced as a
// change.
func (g *Gateway) greet(ctx context.Context, c *mcpserver.Caller) {
	began := g.started
	if g.options.OneClient {
		g.starts.Do(func() {
			for _, s := range g.servers {
				s.Belong(g.callerAt(c, s.Name()))
			}
			g.mu.Lock()
			g.remake()
			g.started = time.Now()
			g.mu.Unlock()
			g.start()
		})
		g.mu.Lock()
		began = g.started
		g.mu.Unlock()
	}
	within := greetWithin
	if g.options.Wrap { // alone, the client would wait for the server's list as well
		within = wrapWithin
	}
	if rest := within - time.Since(began); rest > 0 {
		g.wait(ctx, rest, func(s *connect.Server) bool { return !s.Exact() || s.Unconfirmed() })
	}
}

// checkNames returns an error if there are several servers without names in front. Servers whose tools could not be told apart
// by their names are not served, because nobody could say which is meant.
func (g *Gateway) checkNames() error {
	if g.options.Bare && len(g.options.Servers) != 1 {
		return fmt.Errorf("without the server's name in front, tools of several servers could be confused: --bare takes a configuration with "+
			"exactly one server, and this one has %s", strings.Join(g.options.Names(), ", "))
	}
	g.options.Servers = slices.Clone(g.options.Servers)
	for i := range g.options.Servers {
		for j := range i {
			one, other := &g.options.Servers[j], &g.options.Servers[i]
			err := upstream.CheckPrefixes([]upstream.Server{{Name: one.Name, Mapping: g.mapping(one.Name)}, {Name: other.Name, Mapping: g.mapping(other.Name)}})
			if err != nil {
				one.Problem, other.Problem = cmp.Or(one.Problem, err.Error()), cmp.Or(other.Problem, err.Error())
			}
		}
	}
	return nil
}

// mapping returns the operator's grouping of a server, or nil.
func (g *Gateway) mapping(server string) *upstream.Mapping {
	if m, ok := g.options.Maps[server]; ok {
		return &m
	}
	return nil
}

// names returns the names of a server's prompts, resources and tasks.
func (g *Gateway) names(server string) upstream.Names {
	return upstream.NamesOf(upstream.Server{Name: server, Mapping: g.mapping(server)}, g.options.Bare, g.options.Wrap)
}

// Close ends every upstream.
func (g *Gateway) Close() {
	g.end()
	var all sync.WaitGroup
	all.Go(g.links.close)
	for _, s := range g.servers {
		all.Go(s.Close)
	}
	all.Wait()
}

// Wait waits until every upstream is connected or has failed, for at most within. With cached set, it does
// not wait for servers whose tools are known from the last start.
func (g *Gateway) Wait(ctx context.Context, within time.Duration, cached bool) {
	g.wait(ctx, within, func(s *connect.Server) bool { return !cached || !s.Exact() })
}

func (g *Gateway) wait(ctx context.Context, within time.Duration, needed func(*connect.Server) bool) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	var all sync.WaitGroup
	for _, s := range g.servers {
		if needed(s) {
			all.Go(func() { _ = s.Connect(ctx) })
		}
	}
	all.Wait()
	g.settle(ctx, func() bool { return false })
}

// Notified handles a client's notification. The servers that the client is connected to hear that its roots have changed,
// and of its progress with their questions. It reports whether there are such servers.
func (g *Gateway) Notified(client *mcpserver.Caller, method string, raw json.RawMessage) (told bool) {
	if method != mcpserver.RootsChanged && method != "notifications/progress" {
		return false
	}
	holder, _ := client.Holder()
	servers := g.links.of(holder)
	if g.options.OneClient {
		servers = g.servers
	}
	params, _ := decoded(raw).(map[string]any)
	for _, s := range servers {
		s.Tell(method, params)
	}
	return len(servers) > 0
}

// aboutGroups explains the use of grouped tools that their schemas do not show.
const aboutGroups = `Tools with an "action" stand for several tools of another server; action="help" describes all their actions and parameters in full, action="help NAME" one of them. A tool without actions takes action="help", too. The tool find, where it is listed, finds the tools for a task.`

// aboutTrim says how a model gets the texts that were cut.
const aboutTrim = `Texts of tools and parameters are shortened. A call with {"action": "help"} as its only argument does nothing and returns the tool's full description and schema.`

// Instructions returns the instructions for a client's model: how to use the tools and get their full texts, and the
// instructions of the upstream servers.
func (g *Gateway) Instructions(client string) string {
	texts := []string{map[upstream.Mode]string{upstream.Grouped: aboutGroups, upstream.Trimmed: aboutTrim}[g.ModeFor(client)]}
	for _, s := range g.servers {
		switch offer, _, _ := s.Offer(); {
		case offer.Instructions == "":
		case g.options.Wrap:
			texts = append(texts, offer.Instructions)
		default:
			texts = append(texts, "The server "+s.Name()+" says:\n> "+strings.ReplaceAll(offer.Instructions, "\n", "\n> "))
		}
	}
	return strings.Join(texts, "\n\n")
}

// Check returns an error that names the tools in a mapping that a connected server does not have.
func (g *Gateway) Check() error {
	for _, s := range g.servers {
		if unknown := g.unknownTo(s); len(unknown) > 0 {
			return fmt.Errorf("mapping of server %s: %s", s.Name(), strings.Join(unknown, "; "))
		}
	}
	return nil
}

// noteUnknown notes what a server's mapping names and the server does not have, once.
func (g *Gateway) noteUnknown() {
	for _, s := range g.servers {
		text := strings.Join(g.unknownTo(s), "; ")
		g.mu.Lock()
		before := g.unknown[s.Name()]
		g.unknown[s.Name()] = text
		g.mu.Unlock()
		if text != "" && text != before {
			g.options.Note("gateway.upstream_tool_skipped", map[string]any{"upstream": s.Name(), "message": "its mapping names what it does not have: " + text})
		}
	}
}

// unknownTo returns what a server's mapping names and the server, as far as it is known, does not have.
func (g *Gateway) unknownTo(s *connect.Server) []string {
	m, mapped := g.options.Maps[s.Name()]
	offer, known, _ := s.Offer()
	if !mapped || !known {
		return nil
	}
	return m.Unknown(offer.Tools)
}

// changed has the lists made again, and announces the others that are different now to the clients.
func (g *Gateway) changed(old, now connect.Offer) {
	g.mu.Lock()
	g.remake()
	g.mu.Unlock()
	g.noteUnknown()
	var lists []string
	resources, prompts := old.SameLists(now)
	if !resources {
		lists = append(lists, mcpserver.ResourcesList)
	}
	if !prompts {
		lists = append(lists, mcpserver.PromptsList)
	}
	if len(lists) > 0 && g.options.Changed != nil {
		g.options.Changed(lists...)
	}
}

// Tools returns the list of tools for a client with the given name.
func (g *Gateway) Tools(client string) []tools.Tool {
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

func (g *Gateway) upstreamOptions() upstream.Options {
	return upstream.Options{SplitRW: g.options.SplitRW, Bare: g.options.Bare, Target: g.options.Target, Tokens: tokens.Estimate, Exact: g.options.Wrap}
}

// known returns the known tools of the servers, with their mappings.
func (g *Gateway) known() []upstream.Server {
	var out []upstream.Server
	for _, s := range g.servers {
		offer, known, _ := s.Offer()
		if !known || len(offer.Tools) == 0 {
			continue
		}
		out = append(out, upstream.Server{Name: s.Name(), Tools: offer.Tools, Mapping: g.mapping(s.Name())})
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

// callerAt returns a client as a server sees it.
func (g *Gateway) callerAt(c *mcpserver.Caller, server string) caller {
	at := caller{c, g.names(server), server}
	if g.options.Bare {
		at.server = ""
	}
	return at
}
