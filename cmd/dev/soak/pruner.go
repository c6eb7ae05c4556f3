package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"time"
)

// moody is a pruning service whose behaviour changes every two seconds: it works, fails, hangs, returns nonsense, or
// closes connections.
type moody struct {
	url    string
	server *httptest.Server
	mood   atomic.Int32
	ticker *time.Ticker
}

func newMoody() *moody {
	m := &moody{ticker: time.NewTicker(2 * time.Second)}
	moods := []http.HandlerFunc{
		func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			_, _ = fmt.Fprintf(w, `{"pruned_code":%q}`, keptText)
		},
		func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) },
		func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body) // otherwise net/http does not notice the end of the connection
			<-r.Context().Done()
		},
		func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>") },
		func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
	}
	m.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		moods[int(m.mood.Load())%len(moods)](w, r)
	}))
	m.url = m.server.URL + "/prune"
	go func() { // runs until the program ends
		for range m.ticker.C {
			m.mood.Add(1)
		}
	}()
	return m
}

func (m *moody) close() {
	m.ticker.Stop()
	m.server.CloseClientConnections()
	m.server.Close()
}
