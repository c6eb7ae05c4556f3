package proxy

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// raw sends bytes to a proxy and returns the whole answer.
func raw(t *testing.T, address, request string) (status int, body string) {
	t.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(address, "http://"))
	require.NoError(t, err)
	defer func() { _ = c.Close() }()
	_, err = io.WriteString(c, request)
	require.NoError(t, err)
	res, err := http.ReadResponse(bufio.NewReader(c), nil)
	require.NoError(t, err)
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	return res.StatusCode, string(text)
}

// The proxy is no forward proxy, and a query arrives byte for byte, even one that no library can parse.
func TestRequestLines(t *testing.T) {
	r := newRig(t, database(t), GC)
	var seen []string
	r.up.answer = func(_ http.ResponseWriter, q *http.Request) { seen = append(seen, q.RequestURI) }
	const end = " HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"
	for _, target := range []string{"127.0.0.1:80", "api.anthropic.com:443", "/"} {
		status, body := raw(t, r.proxy.URL, "CONNECT "+target+end)
		assert.Equal(t, http.StatusMethodNotAllowed, status, target)
		assert.Contains(t, body, "base URL")
	}
	status, _ := raw(t, r.proxy.URL, "GET http://evil.example/v1/models"+strings.Replace(end, "127.0.0.1", "evil.example", 1))
	assert.Equal(t, http.StatusForbidden, status)
	assert.Empty(t, seen)
	for _, query := range []string{"beta=true", "a;b", "a=%zz&b=1", "%", "a=1;b=2&c", "x=%2F+%20é", "&&", "="} {
		status, _ := raw(t, r.proxy.URL, "GET /v1/files?"+query+end)
		assert.Equal(t, http.StatusOK, status)
		assert.Equal(t, "/v1/files?"+query, seen[len(seen)-1])
	}
}

// A conversation by WebSocket is refused in the form of its API, so that the client uses HTTP. Everything else that asks for
// another protocol passes.
func TestWebSockets(t *testing.T) {
	r := newRig(t, database(t), GC)
	const upgrade = " HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: eHh4eHh4eHh4eHh4eHh4eA==\r\n\r\n"
	status, body := raw(t, r.proxy.URL, "GET /v1/responses"+upgrade)
	assert.Equal(t, http.StatusUpgradeRequired, status)
	assert.Contains(t, body, `"error":{`)
	assert.Empty(t, r.up.bodies)
	r.up.answer = func(w http.ResponseWriter, q *http.Request) {
		c, in, err := w.(http.Hijacker).Hijack()
		if !assert.NoError(t, err) {
			return
		}
		defer func() { _ = c.Close() }()
		_, _ = io.WriteString(c, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
		line, _ := in.ReadString('\n')
		_, _ = io.WriteString(c, "echo "+line)
	}
	c, err := net.Dial("tcp", strings.TrimPrefix(r.proxy.URL, "http://"))
	require.NoError(t, err)
	defer func() { _ = c.Close() }()
	_, err = io.WriteString(c, "GET /v1/realtime"+upgrade)
	require.NoError(t, err)
	in := bufio.NewReader(c)
	res, err := http.ReadResponse(in, nil)
	require.NoError(t, err)
	require.Equal(t, http.StatusSwitchingProtocols, res.StatusCode)
	_, err = io.WriteString(c, "hello\n")
	require.NoError(t, err)
	line, err := in.ReadString('\n')
	require.NoError(t, err)
	assert.Equal(t, "echo hello\n", line)
}

// A body that is cut short, chunked or not, never looks complete to the upstream.
func TestCutBodies(t *testing.T) {
	r := newRig(t, database(t), GC)
	whole := string(claudeHistory(3))
	complete := make(chan bool, 1)
	r.up.Config.Handler = http.HandlerFunc(func(_ http.ResponseWriter, q *http.Request) {
		body, err := io.ReadAll(q.Body)
		complete <- err == nil && len(body) > 0
	})
	const head = "POST /v1/messages HTTP/1.1\r\nHost: 127.0.0.1\r\n"
	for _, request := range []string{
		head + fmt.Sprintf("Content-Length: %d\r\n\r\n", len(whole)) + whole[:len(whole)-10],
		head + "Transfer-Encoding: chunked\r\n\r\n" + fmt.Sprintf("%x\r\n%s\r\n", len(whole), whole),
		head + "Transfer-Encoding: chunked\r\n\r\n" + fmt.Sprintf("%x\r\n%s", len(whole)+5, whole),
	} {
		c, err := net.Dial("tcp", strings.TrimPrefix(r.proxy.URL, "http://"))
		require.NoError(t, err)
		_, err = io.WriteString(c, request)
		require.NoError(t, err)
		require.NoError(t, c.(*net.TCPConn).CloseWrite())
		_, _ = io.Copy(io.Discard, c)
		require.NoError(t, c.Close())
		select {
		case was := <-complete:
			assert.False(t, was, "the upstream took a cut body for a whole one")
		default: // it never heard of it
		}
	}
	status, _ := raw(t, r.proxy.URL, head+"Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n"+fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(whole), whole))
	assert.Equal(t, http.StatusOK, status)
	assert.True(t, <-complete)
}

// What is no request for a handler is answered by net/http; the proxy serves on.
func TestHostileRequests(t *testing.T) {
	r := newRig(t, database(t), GC)
	for _, request := range []string{
		"GET / HTTP/1.1\r\n\r\n", "GET / HTTP/9.9\r\nHost: a\r\n\r\n", "\x16\x03\x01\x02\x00\x01\x00\r\n\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
		"GET /v1/x HTTP/1.1\r\nHost: 127.0.0.1\r\nBig: " + strings.Repeat("x", 2<<20) + "\r\n\r\n",
		"POST /v1/messages HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",
		"POST /v1/messages HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: -1\r\n\r\n",
	} {
		c, err := net.Dial("tcp", strings.TrimPrefix(r.proxy.URL, "http://"))
		require.NoError(t, err)
		_, _ = io.WriteString(c, request) // it may be refused before its end
		_ = c.(*net.TCPConn).CloseWrite()
		_, _ = io.Copy(io.Discard, c)
		_ = c.Close()
	}
	assert.Empty(t, r.up.bodies, "nothing of that is sent on")
	assert.Equal(t, string(full(claudeHistory(2))), string(r.post(t, "/v1/messages", full(claudeHistory(2)))))
}

// A client that leaves in the middle of a stream ends the request to the upstream, and a slow one holds up nobody.
func TestClientsThatLeaveAndWait(t *testing.T) {
	r := newRig(t, database(t), GC)
	left := make(chan struct{})
	r.up.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		_, _ = io.Copy(io.Discard, q.Body)
		if q.URL.Query().Has("stream") {
			_, _ = io.WriteString(w, "data: {}\n\n")
			w.(http.Flusher).Flush()
			<-q.Context().Done()
			close(left)
		}
	})
	const head = " HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100\r\n\r\n"
	slow, err := net.Dial("tcp", strings.TrimPrefix(r.proxy.URL, "http://"))
	require.NoError(t, err)
	defer func() { _ = slow.Close() }()
	_, err = io.WriteString(slow, "POST /v1/messages"+head+`{"messages"`) // and never the rest
	require.NoError(t, err)
	c, err := net.Dial("tcp", strings.TrimPrefix(r.proxy.URL, "http://"))
	require.NoError(t, err)
	_, err = io.WriteString(c, "POST /v1/messages?stream"+head+strings.Repeat(" ", 100))
	require.NoError(t, err)
	res, err := http.ReadResponse(bufio.NewReader(c), nil)
	require.NoError(t, err)
	_, err = res.Body.Read(make([]byte, 10))
	require.NoError(t, err)
	require.NoError(t, c.Close())
	<-left
	res, err = http.Post(r.proxy.URL+"/v1/messages", "application/json", strings.NewReader("{}"))
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	assert.Equal(t, http.StatusOK, res.StatusCode)
}
