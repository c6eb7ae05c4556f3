package web

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// No door reads headers without end from callers that it does not know yet.
func TestHeadersAreBounded(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	l, err := Listen(ctx, "127.0.0.1", 0)
	require.NoError(t, err)
	served := make(chan struct{})
	go func() {
		defer close(served)
		_, _ = Serve(ctx, NewServer(http.NotFoundHandler()), l, func() bool { return true })
	}()
	for size, want := range map[int]int{MaxHeaderBytes / 2: http.StatusNotFound, 2 * MaxHeaderBytes: http.StatusRequestHeaderFieldsTooLarge} {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+l.Addr().String(), nil)
		require.NoError(t, err)
		r.Header.Set("X-Long", strings.Repeat("a", size))
		res, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		_ = res.Body.Close()
		assert.Equal(t, want, res.StatusCode)
	}
	cancel()
	<-served
}

// net/http reads what an answered request left of its body before it sends the answer. Who announces a body and does not send it
// gets the answer all the same, and keeps no connection.
func TestABodyThatDoesNotComeHoldsNoConnection(t *testing.T) {
	defer func(d time.Duration) { unreadWithin = d }(unreadWithin)
	unreadWithin = 10 * time.Millisecond
	l, err := Listen(t.Context(), "127.0.0.1", 0)
	require.NoError(t, err)
	s := NewServer(http.NotFoundHandler())
	defer func() { _ = s.Close() }()
	go func() { _ = s.Serve(l) }()
	c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", l.Addr().String())
	require.NoError(t, err)
	defer func() { _ = c.Close() }()
	require.NoError(t, c.SetDeadline(time.Now().Add(20*time.Second)))
	_, err = c.Write([]byte("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n{"))
	require.NoError(t, err)
	answer, err := io.ReadAll(c)
	require.NoError(t, err, "the connection stays")
	require.Contains(t, string(answer), "404 Not Found")
}
