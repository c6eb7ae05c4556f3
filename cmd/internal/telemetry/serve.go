package telemetry

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/web"
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
	s := web.NewServer(mux)
	s.ReadTimeout, s.WriteTimeout = 10*time.Second, 30*time.Second
	ctx, end := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() {
		_, err := web.Serve(ctx, s, l, func() bool { return true }) // a scrape in progress is not waited for
		served <- err
	}()
	o.Emit(event.New("mcp_pruner.metrics_ready", "", event.Facts{"url": "http://" + l.Addr().String() + "/metrics"}))
	return m, func() error {
		end()
		return <-served
	}, nil
}

// guarded refuses requests that a web page sent, if the address is a loopback address.
func guarded(l net.Listener, next http.Handler) http.Handler {
	host, _, _ := net.SplitHostPort(l.Addr().String())
	if !web.IsLoopback(host) {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if why := web.Foreign(r); why != "" {
			http.Error(w, why, http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}
