package httpserver

import (
	"context"
	"log"
	"net"
	"sync"
	"time"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/web"
)

// endWithin is the time limit of a shutdown for cancelled calls.
const endWithin = 2 * time.Second

// Serve answers requests on l until ctx ends. It then still answers the requests received so far, unless
// hurry is closed, and cancels calls that take too long. graceful reports whether all of them ended in
// time; err is the error of a failed listener.
func Serve(ctx context.Context, hurry <-chan struct{}, l net.Listener, h *Handler) (graceful bool, err error) {
	calls, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var hearing sync.WaitGroup
	defer hearing.Wait()
	defer cancel()
	if h.config.Replicas != nil {
		hearing.Go(func() { h.hear(calls) })
	}
	defer h.config.Server.Abandon(calls)
	server := web.NewServer(h)
	server.BaseContext = func(net.Listener) context.Context { return calls }
	server.ConnContext = func(ctx context.Context, c net.Conn) context.Context { return context.WithValue(ctx, connKey{}, c) }
	server.ErrorLog = log.New(complaints(h.config.complain), "", 0)
	server.RegisterOnShutdown(h.config.Server.StopListening) // otherwise the shutdown would wait for streams
	return web.Serve(ctx, server, listener{l, h.refusedByHTTP}, func() bool {
		h.draining.Store(true)
		if web.ShutDown(server, h.config.FinishWithin, hurry) {
			return true
		}
		cancel()
		return web.ShutDown(server, endWithin, nil)
	})
}

// complaints receives net/http's log: connections that cannot be accepted, panics of handlers.
type complaints func(line string)

// Write implements io.Writer.
func (c complaints) Write(line []byte) (int, error) {
	c(string(line))
	return len(line), nil
}
