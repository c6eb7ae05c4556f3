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

// Time limits of a shutdown.
const (
	endWithin = 2 * time.Second // for cancelled calls

	maxHeaderBytes = 64 << 10
)

// Listen opens the server's address. Port 0 takes any free one.
func Listen(ctx context.Context, host string, port int) (net.Listener, error) {
	return (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort(host, strconv.Itoa(port)))
}

// Serve answers requests on l until ctx ends. It then still answers the requests received so far, unless
// hurry is closed, and cancels calls that take too long. graceful reports whether all of them ended in
// time; err is the error of a failed listener.
func Serve(ctx context.Context, hurry <-chan struct{}, l net.Listener, h *Handler) (graceful bool, err error) {
	calls, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	defer h.config.Server.Abandon(calls)
	server := &http.Server{
		Handler:           h,
		BaseContext:       func(net.Listener) context.Context { return calls },
		ConnContext:       func(ctx context.Context, c net.Conn) context.Context { return context.WithValue(ctx, connKey{}, c) },
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    maxHeaderBytes,
		ErrorLog:          log.New(complaints(h.config.complain), "", 0), // standard error belongs to the event log
	}
	server.RegisterOnShutdown(h.config.Server.StopListening) // otherwise the shutdown would wait for streams
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener{l, h.config.refusedByHTTP}) }()
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
	_ = server.Close() // close what remains
	if err := <-served; !errors.Is(err, http.ErrServerClosed) {
		return false, err
	}
	return graceful, nil
}

// complaints receives net/http's log: connections that cannot be accepted, panics of handlers.
type complaints func(line string)

// Write implements io.Writer.
func (c complaints) Write(line []byte) (int, error) {
	c(string(line))
	return len(line), nil
}

// shutDown waits for requests in progress, for at most within or until hurry is closed. It reports whether
// all of them ended.
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
