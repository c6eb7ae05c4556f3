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

// MaxHeaderBytes is how long the headers of a request may be. They are read before it is known who calls, and headers of a few bytes
// each take seven times as much memory.
const MaxHeaderBytes = 32 << 10

// NewServer returns a server with the limits that all have. It logs nothing, because standard error belongs to the event
// log.
func NewServer(h http.Handler) *http.Server {
	return &http.Server{Handler: unstalled{h}, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: MaxHeaderBytes, ErrorLog: log.New(io.Discard, "", 0)}
}

// unreadWithin is how long a client may take for the body of a request that was answered without it. Tests change it.
var unreadWithin = 5 * time.Second

// unstalled limits the time for the rest of a body that the handler did not read. net/http reads that rest before it sends the
// answer, without a limit of its own, so that a client could announce a body, never send it, and keep the connection.
type unstalled struct{ http.Handler }

// ServeHTTP implements http.Handler.
func (u unstalled) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.ContentLength != 0 {
		defer func() { _ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(unreadWithin)) }() // net/http takes it back before the next request
	}
	u.Handler.ServeHTTP(w, r)
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
