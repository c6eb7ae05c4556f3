package httpserver

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// BenchmarkEightClients measures requests of clients with connections and sessions of their own, over the network. On two
// processors there are eight. -mutexprofile and -blockprofile show where they wait for each other.
func BenchmarkEightClients(b *testing.B) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(b, err)
	h, body := newBenchHandler(b)
	ctx, stop := context.WithCancel(b.Context())
	done := make(chan error)
	go func() {
		_, err := Serve(ctx, nil, l, h)
		done <- err
	}()
	b.SetParallelism(4)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		client := http.Client{Transport: &http.Transport{}}
		defer client.CloseIdleConnections()
		session := ""
		post := func(body string) {
			r, err := http.NewRequest("POST", "http://"+l.Addr().String()+"/mcp", strings.NewReader(body))
			require.NoError(b, err)
			r.Header = http.Header{"Content-Type": {"application/json"}, "Accept": {both}, "Mcp-Session-Id": {session}}
			response, err := client.Do(r)
			require.NoError(b, err)
			require.Equal(b, http.StatusOK, response.StatusCode)
			_, _ = io.Copy(io.Discard, response.Body)
			_ = response.Body.Close()
			if session == "" {
				session = response.Header.Get("Mcp-Session-Id")
			}
		}
		post(hello("bench"))
		for pb.Next() {
			post(body)
		}
	})
	stop()
	require.NoError(b, <-done)
}
