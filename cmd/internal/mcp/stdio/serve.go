package stdio

import (
	"bytes"
	"context"
	"io"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/mcp/mcpserver"
)

// Time limits of a shutdown.
const (
	finishWithin = 5 * time.Second // for calls received before the end of input
	endWithin    = 2 * time.Second // for cancelled calls
)

// Serve answers the messages that come in until the input ends, ctx ends, or the
// output is lost. At end of input, calls already received are finished first;
// otherwise they are cancelled. It reports whether every call ended in time.
func Serve(ctx context.Context, s *mcpserver.Server, in io.Reader, out io.Writer) (graceful bool) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	c := &connection{
		server: s, out: out, lost: cancel, ctx: ctx,
		room: semaphore.NewWeighted(roomBytes), lead: make(chan struct{}), followers: make(chan struct{}, maxFollowers), ended: make(chan struct{}),
	}
	c.session.Notify = c.notify
	defer s.Abandon(context.WithoutCancel(ctx)) // an answer that the client did not read was not delivered

	if s.Changes() {
		go s.Tell(ctx, &c.session) // ends with ctx; a client that does not read may block it
	}
	go c.read(newLineReader(in, mcpserver.MaxMessageBytes)) // ends with its stream; after a signal the process does not wait for it
	select {
	case <-c.ended:
		s.StopListening()
		if c.wait(finishWithin, ctx.Done()) {
			return true
		}
	case <-ctx.Done():
	}
	cancel()
	return c.wait(endWithin, nil)
}

// connection is one client.
type connection struct {
	server  *mcpserver.Server
	session mcpserver.Session
	ctx     context.Context // of the connection: ends every call
	lost    func()          // called when the output cannot be written any more
	out     io.Writer

	room      *semaphore.Weighted // for the lines of unanswered calls
	lead      chan struct{}       // passes the role of the reader to a follower
	followers chan struct{}       // one element per follower
	ended     chan struct{}       // closed at the end of input

	writing sync.Mutex
	mu      sync.Mutex
	flying  int
	idle    chan struct{} // closed when the last call ends; nil: no one waits
}

// Waiting and running calls are limited by the bytes of their lines: when a client sends calls but does not
// read answers, the server stops reading its input.
const (
	roomBytes = 4 * mcpserver.MaxMessageBytes
	leastLine = 8 << 10 // memory for a small call in addition to its line
)

// maxFollowers is the largest number of goroutines kept for further calls.
const maxFollowers = 8

// read answers line after line. A call delays no other line: the goroutine that has read it makes another
// one the leader, which reads on, then answers the call itself and becomes a follower (the Leader/Followers
// pattern). So no call waits for a thread to wake up, and most run on a stack that has already grown. All
// other messages are answered in order.
func (c *connection) read(lines *lineReader) {
	for c.ctx.Err() == nil {
		line, tooLong, err := lines.next()
		if err != nil {
			break
		}
		if tooLong {
			c.answer(c.ctx, mcpserver.TooLong())
			continue
		}
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		m := mcpserver.Parse(line)
		if !m.TakesLong() {
			c.answerFirst(lines, m)
			continue
		}
		ctx, end := c.session.Start(c.ctx, m)
		c.started()
		size := int64(max(len(line), leastLine))
		if c.room.Acquire(c.ctx, size) != nil {
			size = 0 // the connection ends, and the call with it
		}
		c.handOver(lines)
		c.answer(ctx, m)
		end()
		c.room.Release(size)
		c.finished()
		if !c.follow() {
			return
		}
	}
	close(c.ended)
}

// answerFirst answers a message before the next line is read. An answer that waits for something else, such as a gateway's server, ends
// as calls do if the input ends meanwhile.
func (c *connection) answerFirst(lines *lineReader, m mcpserver.Message) {
	ctx, cancel := context.WithCancel(c.ctx)
	defer cancel()
	looked := make(chan struct{})
	go func() {
		defer close(looked)
		if lines.atEnd() {
			time.AfterFunc(finishWithin, cancel)
		}
	}()
	c.answer(ctx, m)
	<-looked
}

// handOver makes another goroutine the reader.
func (c *connection) handOver(lines *lineReader) {
	select {
	case c.lead <- struct{}{}:
	default:
		go c.read(lines)
	}
}

// follow waits until this goroutine becomes the reader. It returns false if enough others wait, or at the
// end of input.
func (c *connection) follow() bool {
	select {
	case c.followers <- struct{}{}:
		defer func() { <-c.followers }()
	default:
		return false
	}
	select {
	case <-c.lead:
		return true
	case <-c.ended:
		return false
	}
}

// answer answers one message, with one write.
func (c *connection) answer(ctx context.Context, m mcpserver.Message) {
	reply := c.server.Answer(ctx, &c.session, m)
	body, err := reply.Begin(ctx)
	if err != nil {
		c.lost()
	}
	if body == nil {
		return
	}
	if err := c.write(body); err != nil {
		reply.Failed(ctx, err)
		c.lost()
		return
	}
	reply.Written(ctx)
}

func (c *connection) write(line []byte) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	_, err := c.out.Write(line)
	return err
}

func (c *connection) notify(line []byte) {
	if err := c.write(line); err != nil {
		c.lost()
	}
}

func (c *connection) started() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.flying++
}

func (c *connection) finished() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.flying--
	if c.flying == 0 && c.idle != nil {
		close(c.idle)
		c.idle = nil
	}
}

// wait waits until no call is in progress, for at most patience or until stop is closed. It reports whether
// none is left.
func (c *connection) wait(patience time.Duration, stop <-chan struct{}) bool {
	c.mu.Lock()
	idle := make(chan struct{})
	if c.flying == 0 {
		close(idle)
	} else {
		c.idle = idle
	}
	c.mu.Unlock()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-idle:
		return true
	case <-stop:
	case <-timer.C:
	}
	return false
}
