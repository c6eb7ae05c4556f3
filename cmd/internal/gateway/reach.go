package gateway

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/mcp/mcpserver"
	"github.com/mcp-pruner/mcp-pruner/tools"
	"github.com/mcp-pruner/mcp-pruner/tools/upstream/connect"
)

// reach returns the connection of a request's client to a server. done has to be called when the request has ended.
func (g *Gateway) reach(c *mcpserver.Caller, server string) (s *connect.Server, done func(), refusal *tools.Error) {
	shared := g.server(server)
	switch {
	case shared == nil:
		return nil, nil, &tools.Error{Code: "upstream_unavailable", Message: "server " + server + " is not configured any more"}
	case c == nil || g.options.OneClient || shared.Stateless():
		return shared, func() {}, nil
	}
	holder, _ := c.Holder()
	subject := ownerOf(c)
	key := linkKey{holder, server}
	g.links.mu.Lock()
	defer g.links.mu.Unlock()
	l := g.links.open[key]
	if l == nil {
		if refusal := g.links.room(subject); refusal != nil {
			return nil, nil, refusal
		}
		l = &link{subject: subject, Server: g.connectFor(c, shared, g.links.ended[key])}
		l.watched = func() bool { return c.Listening() && l.Watched() }
		g.links.open[key] = l
		delete(g.links.ended, key)
	}
	l.uses++
	if l.idle != nil {
		l.idle.Stop()
	}
	return l.Server, sync.OnceFunc(func() { g.release(key, l) }), nil
}

// await waits for the server of a tool that a client calls before the server has listed it. It returns why that cannot be had.
func (g *Gateway) await(ctx context.Context, tool string) (why string) {
	for _, s := range g.servers {
		if _, known, _ := s.Offer(); known || !g.names(s.Name()).HasTool(tool) {
			continue
		}
		if err := s.Connect(ctx); err != nil && ctx.Err() == nil {
			return fmt.Sprintf("the MCP server %s, which would have the tool %s, cannot be asked: %v", s.Name(), tool, err)
		}
	}
	return ""
}

// connectFor returns a new connection of a client to a server, which is opened with the first request. resumed: it had one before.
// A client without a session may be several: nothing that the server sends outside of a request goes to it.
func (g *Gateway) connectFor(c *mcpserver.Caller, shared *connect.Server, resumed bool) *connect.Server {
	_, subject := c.Holder()
	name, _ := subject.(string) // none without keys
	s := connect.New(shared.Config(), connect.Options{
		Version: g.options.Version, Env: g.options.Env, Note: g.options.Note, Stderr: g.options.Stderr, Token: g.options.tokens(name), Resumed: resumed,
		Changed: func(_, now connect.Offer) { shared.Compare(now) },
	})
	if !c.Alone() {
		s.Belong(g.callerAt(c.Standing(), shared.Name()))
		if level := c.LogLevel(); level != "" {
			_ = s.SetLevel(g.life, level) // it was checked when the client set it
		}
	}
	return s
}

// release ends a request. A connection without requests is closed after a while, except where its client listens and
// watches a resource.
func (g *Gateway) release(key linkKey, l *link) {
	g.links.mu.Lock()
	defer g.links.mu.Unlock()
	if l.uses--; l.uses == 0 && g.links.open[key] == l {
		l.used = time.Now()
		g.links.closeLater(key, l)
	}
}

// ended closes the connections of a client that has ended its session.
func (g *Gateway) ended(c *mcpserver.Caller) {
	holder, _ := c.Holder()
	g.links.end(holder)
}
