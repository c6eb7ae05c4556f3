package gateway

import (
	"fmt"
	"sync"
	"time"

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
