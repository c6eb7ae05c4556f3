package httpserver

import (
	"bytes"
	"errors"
	"mime"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/mcp/mcpserver"
)

// exchange is one POST and its response: a JSON body or, for a call that reports progress, an event stream
// whose last event is the answer.
type exchange struct {
	w      http.ResponseWriter
	r      *http.Request
	within time.Duration // time limit for one write
	server *mcpserver.Server

	modern bool // of protocol 2026-07-28 or later
	status int  // of the answer; 0: 200

	mu        sync.Mutex // a call's notifications may come from any goroutine
	streaming bool
	lost      error // the reason why the stream cannot be written any more
}

// notifier returns the function that sends a call's notifications, or nil if the client does not accept a
// stream.
func (x *exchange) notifier() func(line []byte) {
	if !accepts(x.r.Header.Values("Accept"), "text/event-stream") {
		return nil
	}
	return x.notify
}

// notify writes a notification.
func (x *exchange) notify(line []byte) { x.send(streamEvent(line)) }

// send writes to the stream and starts it if necessary.
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

var errOver = errors.New("the exchange is over")

// finish drops everything that is sent later. It is called before the handler returns, since nothing may be written then.
func (x *exchange) finish() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.lost == nil {
		x.lost = errOver
	}
}

// accept responds to a message that has no answer (202).
func (x *exchange) accept() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.streaming {
		x.w.WriteHeader(http.StatusAccepted)
	}
}

// answer writes the answer. When it returns nil, the bytes have left this process.
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

// pieceBytes is the size of the parts of an answer, for each of which a client has no more than stall.
const pieceBytes = 64 << 10

// write writes and flushes within the time limit, and each part within a shorter one, so that a client that does not read
// cannot keep its answer in memory.
func (x *exchange) write(p []byte) error {
	control, end := http.NewResponseController(x.w), time.Now().Add(x.within)
	for piece := range slices.Chunk(p, pieceBytes) {
		_ = control.SetWriteDeadline(time.Now().Add(min(stall, time.Until(end)))) // fails only without a connection, which has no deadline either
		if _, err := x.w.Write(piece); err != nil {
			return err
		}
	}
	if err := control.Flush(); err != nil {
		return err
	}
	_ = control.SetWriteDeadline(time.Time{})
	return nil
}

// streamEvent returns a JSON line as an event of an event stream.
func streamEvent(line []byte) []byte {
	var b bytes.Buffer
	b.Grow(len(line) + 32)
	b.WriteString("event: message\ndata: ")
	b.Write(bytes.TrimSuffix(line, []byte("\n")))
	b.WriteString("\n\n")
	return b.Bytes()
}

// accepts reports whether the Accept headers include a media type.
func accepts(accept []string, media string) bool {
	family, _, _ := strings.Cut(media, "/")
	for _, item := range strings.Split(strings.Join(accept, ","), ",") {
		name, params, _ := mime.ParseMediaType(item)
		if params["q"] == "0" {
			continue
		}
		switch name {
		case media, family + "/*", "*/*":
			return true
		}
	}
	return false
}

// aliveEvery is the interval of writes to a stream without news. Clients consider a stream broken that is
// silent for minutes, and the write detects a client that is gone.
const aliveEvery = 30 * time.Second

var streamNotAccepted = &fault{http.StatusNotAcceptable, "not_acceptable", "what a client listens to is text/event-stream"}

// aliveLine is a comment in an event stream.
var aliveLine = []byte(": alive\n\n")

// keepAlive writes to a started stream at intervals until stop is called. It calls gone when the client no
// longer reads, or may no longer.
func (x *exchange) keepAlive(admitted func(*http.Request) bool, gone func()) (stop func()) {
	ended, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		alive := time.NewTicker(aliveEvery)
		defer alive.Stop()
		for {
			select {
			case <-ended:
				return
			case <-alive.C:
			}
			if x.send(aliveLine); x.broken() != nil || !admitted(x.r) {
				gone()
				return
			}
		}
	}()
	return func() {
		close(ended)
		<-done
	}
}

// broken returns the reason why the stream cannot be written, or nil if none is known.
func (x *exchange) broken() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.lost
}
