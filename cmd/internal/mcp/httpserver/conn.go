package httpserver

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// listener returns connections on which errors that net/http itself sends (for an invalid request line or
// too large headers) have the form of all other errors of this server.
type listener struct {
	net.Listener
	refused func(why string) // called for each such error
}

// Accept implements net.Listener.
func (l listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &conn{Conn: c, refused: l.refused, past: make(chan struct{})}, nil
}

// conn is one connection.
type conn struct {
	net.Conn
	refused func(why string)
	ended   atomic.Bool

	mu     sync.Mutex
	past   chan struct{} // closed while the read deadline has passed
	isOver bool
}

// lookEvery is the interval of checks whether a client that closed its sending half is still there.
const lookEvery = 100 * time.Millisecond

// Read implements net.Conn. During a request, net/http reads a single byte to detect that the client is
// gone. End of file alone does not prove that: the client may have closed only its sending half and be
// waiting for the answer.
func (c *conn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if len(p) != 1 || n > 0 || !errors.Is(err, io.EOF) {
		return n, err
	}
	for since := time.Now(); listens(c.Conn, since); {
		select {
		case <-c.deadlineOver(): // the request has ended, and with it net/http's read
			return 0, os.ErrDeadlineExceeded
		case <-time.After(lookEvery):
		}
	}
	return 0, io.EOF
}

// SetReadDeadline implements net.Conn.
func (c *conn) SetReadDeadline(t time.Time) error {
	isOver := !t.IsZero() && !t.After(time.Now())
	c.mu.Lock()
	switch {
	case isOver && !c.isOver:
		close(c.past)
	case !isOver && c.isOver:
		c.past = make(chan struct{})
	}
	c.isOver = isOver
	c.mu.Unlock()
	return c.Conn.SetReadDeadline(t)
}

func (c *conn) deadlineOver() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.past
}

// CloseWrite lets net/http close a connection so that a client that is still sending receives the answer.
func (c *conn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// plainError is the end of the header that net/http writes before the text of its own errors. No answer of
// this server is plain text.
var plainError = []byte("\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n")

// Write implements net.Conn.
func (c *conn) Write(p []byte) (int, error) {
	line, text, found := bytes.Cut(p[:min(len(p), 512)], plainError)
	if !found || !bytes.HasPrefix(line, []byte("HTTP/1.1 ")) || !c.ended.CompareAndSwap(false, true) {
		return c.Conn.Write(p)
	}
	status := strings.TrimPrefix(string(line), "HTTP/1.1 ")
	body, err := json.Marshal(map[string]any{"ok": false, "error": map[string]string{"code": "bad_request", "message": string(text)}})
	if err != nil { // strings always marshal
		return 0, err
	}
	c.refused(status)
	answer := fmt.Appendf(nil, "HTTP/1.1 %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s", status, len(body), body)
	if _, err := c.Conn.Write(answer); err != nil {
		return 0, err
	}
	return len(p), nil
}
