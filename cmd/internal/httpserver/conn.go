package httpserver

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
)

// listener hands out connections on which net/http's own refusals (a request line that
// is none, headers that are too large) have the form of every other error here.
type listener struct {
	net.Listener
	refused func(why string) // takes each of them
}

// Accept implements net.Listener.
func (l listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &conn{Conn: c, refused: l.refused}, nil
}

// conn is one connection.
type conn struct {
	net.Conn
	refused func(why string)
	ended   atomic.Bool
}

// plainError is how net/http ends what it writes before the text of an error of its
// own. No answer of ours is text.
var plainError = []byte("\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n")

// Write implements net.Conn.
func (c *conn) Write(p []byte) (int, error) {
	line, text, found := bytes.Cut(p[:min(len(p), 512)], plainError)
	if !found || !bytes.HasPrefix(line, []byte("HTTP/1.1 ")) || !c.ended.CompareAndSwap(false, true) {
		return c.Conn.Write(p)
	}
	status := strings.TrimPrefix(string(line), "HTTP/1.1 ")
	body, err := json.Marshal(map[string]any{"ok": false, "error": map[string]string{"code": "bad_request", "message": string(text)}})
	if err != nil { // strings marshal
		return 0, err
	}
	c.refused(status)
	answer := fmt.Appendf(nil, "HTTP/1.1 %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s", status, len(body), body)
	if _, err := c.Conn.Write(answer); err != nil {
		return 0, err
	}
	return len(p), nil
}
