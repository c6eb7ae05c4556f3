package telemetry

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/web"
	"github.com/mcp-pruner/mcp-pruner/fsm"
)

// serveMetrics serves GET /metrics at an address. It returns the observer that fills the metrics.
func serveMetrics(o Options) (*metrics, func() error, error) {
	token, err := tokenOf(o)
	if err != nil {
		return nil, nil, err
	}
	l, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", o.Metrics)
	if err != nil {
		return nil, nil, fmt.Errorf("MCP_PRUNER_METRICS: %w", err)
	}
	m := newMetrics(o.Version, o.Transport)
	if o.Database != nil {
		m.registry.MustRegister(databaseGauge(o.Database))
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", guarded(l, token, promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})))
	s := web.NewServer(mux)
	s.ReadTimeout, s.WriteTimeout = 10*time.Second, 30*time.Second
	ctx, end := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() {
		_, err := web.Serve(ctx, s, l, func() bool { return true }) // a scrape in progress is not waited for
		served <- err
	}()
	o.Emit(fsm.NewEvent("mcp_pruner.metrics_ready", "", fsm.Facts{"url": "http://" + l.Addr().String() + "/metrics"}))
	return m, func() error {
		end()
		return <-served
	}, nil
}

// tokenOf reads the token that a scrape has to send.
func tokenOf(o Options) (web.Token, error) {
	if o.Token == "" {
		return "", nil
	}
	token, err := web.ReadToken(o.Token)
	if err != nil {
		return "", fmt.Errorf("MCP_PRUNER_METRICS_TOKEN_FILE: %w", err)
	}
	return token, nil
}

// guarded refuses requests that a web page sent, if the address is a loopback address, and those without the token.
// Elsewhere nobody is answered without one.
func guarded(l net.Listener, token web.Token, next http.Handler) http.Handler {
	host, _, _ := net.SplitHostPort(l.Addr().String())
	local := web.IsLoopback(host)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if why := web.Foreign(r); local && why != "" {
			http.Error(w, why, http.StatusForbidden)
			return
		}
		sent, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		if (!local || token != "") && !token.Owns(sent) {
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "GET /metrics needs the token of MCP_PRUNER_METRICS_TOKEN_FILE", http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}
