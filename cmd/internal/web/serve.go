package web

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

// Listen opens an address. Port 0 takes any free one.
func Listen(ctx context.Context, host string, port int) (net.Listener, error) {
	return (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort(host, strconv.Itoa(port)))
}

// NewServer returns a server with the limits that all have. It logs nothing, because standard error belongs to the event
// log.
func NewServer(h http.Handler) *http.Server {
	return &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, ErrorLog: log.New(io.Discard, "", 0)}
}

// Serve answers requests until ctx ends. finish then waits for those in progress and reports whether all of them ended;
// those that did not are closed. err is the error of a failed listener.
func Serve(ctx context.Context, s *http.Server, l net.Listener, finish func() bool) (graceful bool, err error) {
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	select {
	case err := <-served:
		_ = s.Close()
		return false, err
	case <-ctx.Done():
	}
	graceful = finish()
	_ = s.Close() // close what remains
	if err := <-served; !errors.Is(err, http.ErrServerClosed) {
		return false, err
	}
	return graceful, nil
}

// ShutDown waits for requests in progress, for at most within or until hurry is closed. It reports whether
// all of them ended.
func ShutDown(s *http.Server, within time.Duration, hurry <-chan struct{}) bool {
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
