package httpserver

import (
	"context"
	"errors"
	"log"
	"net"
	"net/http"
	"strconv"
	"time"
)

// How long the end may take.
const (
	finishWithin = 5 * time.Second // requests that were received, unless the configuration says otherwise
	endWithin    = 2 * time.Second // cancelled calls
)

// Listen opens the server's address. Port 0 takes any free one.
func Listen(ctx context.Context, host string, port int) (net.Listener, error) {
	return (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort(host, strconv.Itoa(port)))
}

// Serve answers what comes in at l until ctx ends. Requests that were received by
// then are still answered, unless hurry is closed; calls that take too long are
// cancelled. It reports whether every one of them ended in time; the error is that of
// a listener that broke.
func Serve(ctx context.Context, hurry <-chan struct{}, l net.Listener, h *Handler) (graceful bool, err error) {
	calls, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	defer h.config.Server.Abandon(calls)
	server := &http.Server{
		Handler:           h,
		BaseContext:       func(net.Listener) context.Context { return calls },
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          log.New(complaints(h.complain), "", 0), // standard error is the event log's
	}
	server.RegisterOnShutdown(h.config.Server.StopListening) // streams would be waited for
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener{l, h.refusedByHTTP}) }()
	select {
	case err := <-served:
		_ = server.Close()
		return false, err
	case <-ctx.Done():
	}
	graceful = shutDown(server, h.config.FinishWithin, hurry)
	if !graceful {
		cancel()
		graceful = shutDown(server, endWithin, nil)
	}
	_ = server.Close() // whatever is left
	if err := <-served; !errors.Is(err, http.ErrServerClosed) {
		return false, err
	}
	return graceful, nil
}

// complaints takes what net/http logs: a connection that cannot be accepted, a
// handler's panic.
type complaints func(line string)

// Write implements io.Writer.
func (c complaints) Write(line []byte) (int, error) {
	c(string(line))
	return len(line), nil
}

// shutDown waits for requests under way, for some time or until hurry is closed, and
// reports whether all of them ended.
func shutDown(s *http.Server, within time.Duration, hurry <-chan struct{}) bool {
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	go func() {
		select {
		case <-hurry:
			cancel()
		case <-ctx.Done():
		}
	}()
	return s.Shutdown(ctx) == nil
}
