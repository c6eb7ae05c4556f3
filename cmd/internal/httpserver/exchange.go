package httpserver

import (
	"bytes"
	"errors"
	"net/http"
	"sync"
	"time"

	"mcp-pruner/cmd/internal/mcpserver"
)

// exchange is one POST and what is written in return: a JSON body, or, when a
// call takes so long that it reports progress on the way, a stream of events whose
// last is the answer.
type exchange struct {
	w      http.ResponseWriter
	r      *http.Request
	within time.Duration // for one write
	server *mcpserver.Server

	modern bool // of protocol 2026-07-28 or later
	status int  // of the answer; 0: 200

	mu        sync.Mutex // a call's notifications may come from anywhere
	streaming bool
	lost      error // the stream cannot be written to any more
}

// notifier is the way for notifications of a call; nil when the client does not
// take a stream.
func (x *exchange) notifier() func(line []byte) {
	if !accepts(x.r.Header.Values("Accept"), "text/event-stream") {
		return nil
	}
	return x.notify
}

// notify writes a notification.
func (x *exchange) notify(line []byte) { x.send(streamEvent(line)) }

// send writes to the stream, which begins with that if it has not begun.
func (x *exchange) send(p []byte) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.lost != nil {
		return
	}
	if !x.streaming {
		h := x.w.Header()
		h.Set("Content-Type", "text/event-stream")
		h.Set("Cache-Control", "no-cache, no-transform")
		h.Set("X-Content-Type-Options", "nosniff")
		x.streaming = true
	}
	x.lost = x.write(p)
}

// accept answers a message that has no answer.
func (x *exchange) accept() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.streaming {
		x.w.WriteHeader(http.StatusAccepted)
	}
}

// answer writes the answer. When it returns without error the bytes are on their
// way and no longer in this process.
func (x *exchange) answer(body []byte) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.streaming {
		return errors.Join(x.lost, x.write(streamEvent(body)))
	}
	setJSON(x.w.Header(), len(body))
	if x.status != 0 {
		x.w.WriteHeader(x.status)
	}
	return x.write(body)
}

// write writes and flushes within the time for it: a client that does not read
// must not keep its answer in memory for ever.
func (x *exchange) write(p []byte) error {
	control := http.NewResponseController(x.w)
	_ = control.SetWriteDeadline(time.Now().Add(x.within)) // no connection, no deadline
	if _, err := x.w.Write(p); err != nil {
		return err
	}
	if err := control.Flush(); err != nil {
		return err
	}
	_ = control.SetWriteDeadline(time.Time{})
	return nil
}

// streamEvent is a JSON line as an event of a stream.
func streamEvent(line []byte) []byte {
	var b bytes.Buffer
	b.Grow(len(line) + 32)
	b.WriteString("event: message\ndata: ")
	b.Write(bytes.TrimSuffix(line, []byte("\n")))
	b.WriteString("\n\n")
	return b.Bytes()
}
