package telemetry

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/loopback"
	"github.com/mcp-pruner/mcp-pruner/fsm/event"
)

// serveMetrics serves GET /metrics at an address. It returns the observer that fills the metrics.
func serveMetrics(o Options) (*metrics, func() error, error) {
	l, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", o.Metrics)
	if err != nil {
		return nil, nil, fmt.Errorf("MCP_PRUNER_METRICS: %w", err)
	}
	m := newMetrics(o.Version, o.Transport)
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", guarded(l, promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})))
	s := &http.Server{
		Handler: mux, ReadTimeout: 10 * time.Second, WriteTimeout: 30 * time.Second, IdleTimeout: 2 * time.Minute,
		ErrorLog: log.New(io.Discard, "", 0), // only the event log writes to standard error
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	o.Emit(event.New("mcp_pruner.metrics_ready", "", event.Facts{"url": "http://" + l.Addr().String() + "/metrics"}))
	return m, func() error {
		err := s.Close()
		if serving := <-served; !errors.Is(serving, http.ErrServerClosed) {
			err = serving
		}
		return err
	}, nil
}

// guarded refuses requests that a web page sent, if the address is a loopback address.
func guarded(l net.Listener, next http.Handler) http.Handler {
	host, _, _ := net.SplitHostPort(l.Addr().String())
	if !loopback.IsName(host) {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if why := loopback.Foreign(r); why != "" {
			http.Error(w, why, http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}
