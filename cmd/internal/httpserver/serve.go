package httpserver

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"strconv"
	"time"
)

// How long the end may take.
const (
	finishWithin = 5 * time.Second // requests that were received
	endWithin    = 2 * time.Second // cancelled calls
)

// Listen opens the server's address. Port 0 takes any free one.
func Listen(ctx context.Context, host string, port int) (net.Listener, error) {
	return (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort(host, strconv.Itoa(port)))
}

// Serve answers what comes in at l until ctx ends. Requests that were received by
// then are still answered; calls that take too long are cancelled. It reports
// whether every one of them ended in time; the error is that of a listener that
// broke.
func Serve(ctx context.Context, l net.Listener, h http.Handler) (graceful bool, err error) {
	calls, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	server := &http.Server{
		Handler:           h,
		BaseContext:       func(net.Listener) context.Context { return calls },
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          log.New(io.Discard, "", 0), // standard error is the event log's
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	select {
	case err := <-served:
		_ = server.Close()
		return false, err
	case <-ctx.Done():
	}
	graceful = shutDown(server, finishWithin)
	if !graceful {
		cancel()
		graceful = shutDown(server, endWithin)
	}
	_ = server.Close() // whatever is left
	if err := <-served; !errors.Is(err, http.ErrServerClosed) {
		return false, err
	}
	return graceful, nil
}

// shutDown waits for requests under way and reports whether all of them ended.
func shutDown(s *http.Server, within time.Duration) bool {
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	return s.Shutdown(ctx) == nil
}
