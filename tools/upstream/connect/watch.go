package connect

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcp-pruner/mcp-pruner/tools"
)

// watched holds who wants to hear of updates of which resource, by the resource's URI.
type watched map[string]map[any]func(uri string)

// maxWatched is the largest number of resources that a server's clients watch. A long URI counts once more for each KiB, for each
// client that watches it.
const maxWatched = 1000

// size is how much of maxWatched is taken.
func (w watched) size() (size int) {
	for uri, clients := range w {
		size += 1 + len(clients)*(len(uri)>>10)
	}
	return size
}

// Watch calls updated for each update of a resource until Unwatch is called with the same key.
func (s *Server) Watch(ctx context.Context, uri string, key any, updated func(uri string), caller Caller) (json.RawMessage, *tools.RPCError) {
	s.mu.Lock()
	if long := len(uri) >> 10; (s.watched[uri] == nil || long > 0) && s.watched.size()+long >= maxWatched {
		s.mu.Unlock()
		return nil, &tools.RPCError{Code: mcp.INTERNAL_ERROR, Message: "too many resources of the server " + s.config.Name + " are watched already; unsubscribe from some"}
	}
	if s.watched[uri] == nil {
		s.watched[uri] = map[any]func(string){}
	}
	s.watched[uri][key] = s.apart(updated) // before the server is told: an update may come before its answer
	s.mu.Unlock()
	result, refused := s.Request(ctx, "resources/subscribe", map[string]any{"uri": uri}, nil, caller)
	if refused != nil {
		s.forget(uri, key)
		return nil, refused
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.subscribed[uri] = true
	return result, nil
}

// updates passes on the updates of a resource to one client.
type updates struct {
	Caller
	updated func(uri string)
}

func (u updates) Notify(uri string, _ any) { u.updated(uri) }

// apart returns updated, for a connection that several clients share, so that its reader does not wait for the client.
func (s *Server) apart(updated func(uri string)) func(uri string) {
	if s.owner != nil {
		return updated
	}
	q := &queued{Caller: updates{updated: updated}}
	return func(uri string) { q.Notify(uri, nil) }
}

// forget removes a watcher and returns the number of those that are left.
func (s *Server) forget(uri string, key any) (left int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.watched[uri], key)
	if left = len(s.watched[uri]); left == 0 {
		delete(s.watched, uri)
		delete(s.subscribed, uri)
	}
	return left
}

// Unwatch ends a Watch. The server is told when nobody watches the resource any more.
func (s *Server) Unwatch(ctx context.Context, uri string, key any, caller Caller) (json.RawMessage, *tools.RPCError) {
	if s.forget(uri, key) > 0 {
		return json.RawMessage("{}"), nil
	}
	return s.Request(ctx, "resources/unsubscribe", map[string]any{"uri": uri}, nil, caller)
}

// Watched reports whether a client watches a resource of the server.
func (s *Server) Watched() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.watched) > 0
}

// updated tells those who watch a resource, or one that it is a part of, of its update.
func (s *Server) updated(uri string) {
	s.mu.Lock()
	var tell []func(string)
	for watched, clients := range s.watched {
		if watched != uri && !strings.HasPrefix(uri, strings.TrimSuffix(watched, "/")+"/") {
			continue
		}
		for _, updated := range clients {
			tell = append(tell, updated)
		}
	}
	s.mu.Unlock()
	for _, updated := range tell {
		updated(uri)
	}
}

// SetLevel sets the lowest level of the log messages that the server sends. If several clients share the server, the most
// verbose of their levels counts, and each client gets only the messages of the level that it asked for.
func (s *Server) SetLevel(ctx context.Context, level string) error {
	if err := CheckLevel(level); err != nil {
		return err
	}
	s.mu.Lock()
	if s.owner != nil || s.level == "" || slices.Index(levels, level) < slices.Index(levels, s.level) {
		s.level = level
	}
	conn := s.conn
	s.mu.Unlock()
	if conn != nil {
		s.sendLevel(ctx, conn)
	}
	return nil
}

// CheckLevel returns an error that lists the levels if level is none.
func CheckLevel(level string) error {
	if !slices.Contains(levels, level) {
		return errors.New("level is one of " + strings.Join(levels, ", "))
	}
	return nil
}

// verbose makes the server send the log messages that a request asks for, as requests of protocol 2026-07-28 do.
func (s *Server) verbose(ctx context.Context, conn *connection, caller Caller) {
	if caller == nil || !caller.Modern() || !slices.Contains(levels, caller.LogLevel()) {
		return
	}
	s.mu.Lock()
	less := s.level == "" || slices.Index(levels, caller.LogLevel()) < slices.Index(levels, s.level)
	if less {
		s.level = caller.LogLevel()
	}
	s.mu.Unlock()
	if less {
		s.sendLevel(ctx, conn)
	}
}

// sendLevel sends the level to the server, if that logs.
func (s *Server) sendLevel(ctx context.Context, conn *connection) {
	s.mu.Lock()
	level := s.level
	s.mu.Unlock()
	var has Capabilities
	if json.Unmarshal(conn.capabilities, &has) != nil || has.Logging == nil || level == "" {
		return
	}
	_, _ = conn.request(ctx, "logging/setLevel", map[string]any{"level": level}) // a server that refuses it sends what it likes
}

// restore repeats on a new connection what clients asked for on the previous one.
func (s *Server) restore(conn *connection) {
	ctx, cancel := context.WithTimeout(s.life, listWithin)
	defer cancel()
	s.sendLevel(ctx, conn)
	s.mu.Lock()
	uris := slices.Collect(maps.Keys(s.subscribed))
	s.mu.Unlock()
	for _, uri := range uris {
		_, _ = conn.request(ctx, "resources/subscribe", map[string]any{"uri": uri}) // a resource that is gone has no updates
	}
}
