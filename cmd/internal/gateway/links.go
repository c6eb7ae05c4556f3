package gateway

import (
	"cmp"
	"fmt"
	"sync"
	"time"

	"github.com/mcp-pruner/mcp-pruner/tools"
	"github.com/mcp-pruner/mcp-pruner/tools/upstream/connect"
)

// Limits of the connections that clients over HTTP have to servers, unless the configuration has others.
const (
	maxLinksEach = 32  // of one subject
	maxLinks     = 256 // of all
	idleAfter    = 5 * time.Minute

	maxEnded = 1024 // connections of which it is remembered that they were closed
)

// links are the connections of clients to servers. Each session has its own, so that no server can take one client for
// another. The connections of the gateway itself, which list what the servers have, are not among them.
type links struct {
	limits connect.Limits

	mu    sync.Mutex
	open  map[linkKey]*link
	ended map[linkKey]bool // closed, although their clients may call again
}

func newLinks(l connect.Limits) links {
	l = connect.Limits{Max: cmp.Or(l.Max, maxLinks), Each: cmp.Or(l.Each, maxLinksEach), Idle: cmp.Or(l.Idle, idleAfter)}
	return links{limits: l, open: map[linkKey]*link{}, ended: map[linkKey]bool{}}
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
	used    time.Time
	watched func() bool // without a request its client waits for something
	idle    *time.Timer
}

// room makes room for a further connection of a subject: the longest idle one is closed. It returns the refusal if all are in use.
func (l *links) room(subject any) *tools.Error {
	for _, limit := range []struct {
		most    int
		whose   string
		applies func(*link) bool
	}{
		{l.limits.Each, "this client", func(one *link) bool { return one.subject == subject }},
		{l.limits.Max, "the gateway", func(*link) bool { return true }},
	} {
		count := 0
		var oldest linkKey
		var idle *link
		for key, one := range l.open {
			if !limit.applies(one) {
				continue
			}
			if count++; one.uses == 0 && (idle == nil || one.used.Before(idle.used)) && !one.watched() {
				oldest, idle = key, one
			}
		}
		switch {
		case count < limit.most:
		case idle == nil:
			return &tools.Error{Code: "upstream_unavailable", Message: fmt.Sprintf("%s has %d connections to MCP servers already, the most that it may have, "+
				"and all are in use; try again when a call has ended", limit.whose, count)}
		default:
			l.drop(oldest, idle)
		}
	}
	return nil
}

// drop closes a connection whose client may call again. l.mu is locked.
func (l *links) drop(key linkKey, one *link) {
	for other := range l.ended {
		if len(l.ended) < maxEnded {
			break
		}
		delete(l.ended, other) // its client is not told that the server was started anew
	}
	l.ended[key] = true
	delete(l.open, key)
	one.close()
}

func (one *link) close() {
	if one.idle != nil {
		one.idle.Stop()
	}
	go one.Close()
}

// closeLater closes a connection when nobody has used it for a while.
func (l *links) closeLater(key linkKey, one *link) {
	one.idle = time.AfterFunc(l.limits.Idle, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		switch {
		case one.uses > 0 || l.open[key] != one:
		case one.watched():
			l.closeLater(key, one)
		default:
			l.drop(key, one)
		}
	})
}

// end closes the connections of a client that has ended its session.
func (l *links) end(holder any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for key, one := range l.open {
		if key.holder == holder {
			delete(l.open, key)
			one.close()
		}
	}
	for key := range l.ended {
		if key.holder == holder {
			delete(l.ended, key)
		}
	}
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
