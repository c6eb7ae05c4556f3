package proxy

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
)

// BenchmarkRequest measures the time that the proxy adds to a request of 1 MB of a conversation that it knows: its parsing, recognising and
// rewriting, and the same without them.
func BenchmarkRequest(b *testing.B) {
	for name, policy := range map[string]Policy{"gc": GC, "off": Off} {
		b.Run(name, func(b *testing.B) {
			r := newRig(b, b.TempDir()+"/ledger.db", GC)
			s := r.server
			if policy == Off {
				s.runs = nil
			}
			s.proxy.Transport = roundTripper(func(r *http.Request) (*http.Response, error) {
				_, _ = io.Copy(io.Discard, r.Body)
				return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody, Header: http.Header{}, Request: r}, nil
			})
			body := claudeHistory(140)
			b.SetBytes(int64(len(body)))
			send := func() {
				s.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "http://127.0.0.1/v1/messages", bytes.NewReader(body)))
			}
			send() // the conversation is then known
			for b.Loop() {
				send()
			}
		})
	}
}
