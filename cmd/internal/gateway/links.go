package gateway

import (
	"fmt"
	"sync"
	"time"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/mcp/mcpserver"
	"github.com/mcp-pruner/mcp-pruner/tools"
	"github.com/mcp-pruner/mcp-pruner/tools/upstream/connect"
)

// Limits of the connections that clients over HTTP have to servers.
const (
	maxLinksEach = 32  // of one subject
	maxLinks     = 256 // of all
	idleAfter    = 5 * time.Minute
)

// links are the connections of clients to servers. Each session has its own, so that no server can take one client for
// another. The connections of the gateway itself, which list what the servers have, are not among them.
type links struct {
	mu   sync.Mutex
	open map[linkKey]*link
}

// linkKey says whose connection to which server a link is.
type linkKey struct {
	holder any
	server string
}

type link struct {
	*connect.Server
	subject any
	uses    int // requests in progress
	idle    *time.Timer
}

// reach returns the connection of a request's client to a server. done has to be called when the request has ended.
func (g *Gateway) reach(c *mcpserver.Caller, server string) (s *connect.Server, done func(), refusal *tools.Error) {
	shared := g.server(server)
	switch {
	case shared == nil:
		return nil, nil, &tools.Error{Code: "upstream_unavailable", Message: "server " + server + " is not configured any more"}
	case c == nil || g.options.OneClient || shared.Stateless():
		return shared, func() {}, nil
	}
	holder, subject := c.Holder()
	if subject == nil || subject == "" { // nobody is known by name: a client counts for itself
		subject = holder
	}
	key := linkKey{holder, server}
	g.links.mu.Lock()
	defer g.links.mu.Unlock()
	l := g.links.open[key]
	if l == nil {
		if refusal := g.links.full(subject); refusal != nil {
			return nil, nil, refusal
		}
		l = &link{Server: g.connectFor(c, shared), subject: subject}
		g.links.open[key] = l
	}
	l.uses++
	if l.idle != nil {
		l.idle.Stop()
	}
	return l.Server, sync.OnceFunc(func() { g.release(c, key, l) }), nil
}

// full returns the refusal of a further connection, or nil.
func (l *links) full(subject any) *tools.Error {
	each := 0
	for _, other := range l.open {
		if other.subject == subject {
			each++
		}
	}
	const what = "Connections are closed %d minutes after their last call; try again then, or end other sessions."
	switch {
	case each >= maxLinksEach:
		return &tools.Error{Code: "upstream_unavailable", Message: fmt.Sprintf("this client has %d connections to MCP servers already, the most that one may have. "+what, each, int(idleAfter.Minutes()))}
	case len(l.open) >= maxLinks:
		return &tools.Error{Code: "upstream_unavailable", Message: fmt.Sprintf("the gateway has %d connections to MCP servers already, the most that it may have. "+what, len(l.open), int(idleAfter.Minutes()))}
	}
	return nil
}

// connectFor returns a new connection of a client to a server, which is opened with the first request. A client without a
// session may be several: nothing that the server sends outside of a request goes to it.
func (g *Gateway) connectFor(c *mcpserver.Caller, shared *connect.Server) *connect.Server {
	s := connect.New(shared.Config(), connect.Options{
		Version: g.options.Version, Env: g.options.Env, Note: g.options.Note, Stderr: g.options.Stderr,
		Changed: func(_, now connect.Offer) { shared.Compare(now) },
	})
	if !c.Alone() {
		s.Belong(caller{c.Standing(), g.names(shared.Name())})
		if level := c.LogLevel(); level != "" {
			_ = s.SetLevel(g.life, level) // it was checked when the client set it
		}
	}
	return s
}

// release ends a request. A connection without requests is closed after a while, except where its client listens and
// watches a resource.
func (g *Gateway) release(c *mcpserver.Caller, key linkKey, l *link) {
	g.links.mu.Lock()
	defer g.links.mu.Unlock()
	if l.uses--; l.uses == 0 && g.links.open[key] == l {
		g.links.closeLater(g.options.IdleAfter, key, l, func() bool { return c.Listening() && l.Watched() })
	}
}

func (l *links) closeLater(after time.Duration, key linkKey, one *link, used func() bool) {
	one.idle = time.AfterFunc(after, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		switch {
		case one.uses > 0 || l.open[key] != one:
		case used():
			l.closeLater(after, key, one, used)
		default:
			delete(l.open, key)
			go one.Close()
		}
	})
}

// of returns the open connections of a client.
func (l *links) of(holder any) (servers []*connect.Server) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for key, one := range l.open {
		if key.holder == holder {
			servers = append(servers, one.Server)
		}
	}
	return servers
}

// close ends all connections.
func (l *links) close() {
	l.mu.Lock()
	open := l.open
	l.open = map[linkKey]*link{}
	l.mu.Unlock()
	var all sync.WaitGroup
	for _, one := range open {
		if one.idle != nil {
			one.idle.Stop()
		}
		all.Go(one.Close)
	}
	all.Wait()
}
