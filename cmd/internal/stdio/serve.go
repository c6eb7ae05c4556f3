package stdio

import (
	"bytes"
	"context"
	"io"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"mcp-pruner/cmd/internal/mcpserver"
)

// How long the end may take.
const (
	finishWithin = 5 * time.Second // calls received before end of input
	endWithin    = 2 * time.Second // cancelled calls
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
	defer s.Abandon(context.WithoutCancel(ctx)) // a client that reads nothing has not been answered

	if s.Changes() {
		go s.Tell(ctx, &c.session) // ends with ctx; a client that reads nothing may hold it up
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
	lost    func()          // called when the output is gone
	out     io.Writer

	room      *semaphore.Weighted // for lines of calls that are not answered yet
	lead      chan struct{}       // hands the reading over to a follower
	followers chan struct{}       // one element for each
	ended     chan struct{}       // closed when there is nothing more to read

	writing sync.Mutex
	mu      sync.Mutex
	flying  int
	idle    chan struct{} // closed when the last call ends; nil: nobody waits
}

// Calls that wait to be worked on or answered are bounded by the bytes of their lines:
// a client that sends calls and reads no answer is read no further.
const (
	roomBytes = 4 * mcpserver.MaxMessageBytes
	leastLine = 8 << 10 // what a small call costs, beside its line
)

// maxFollowers bounds the goroutines kept for the next calls.
const maxFollowers = 8

// read answers line after line. A call delays nobody: the goroutine that has read
// one makes another the leader, which reads on, answers the call itself and then
// follows (the pattern is Leader/Followers). So no call waits for a thread to wake,
// and most find a stack that has grown already. All else is answered in order.
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
			c.answer(c.ctx, m)
			continue
		}
		ctx, end := c.session.Start(c.ctx, m)
		c.started()
		size := int64(max(len(line), leastLine))
		if c.room.Acquire(c.ctx, size) != nil {
			size = 0 // the connection ends, and with it the call
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

// handOver makes another goroutine read on.
func (c *connection) handOver(lines *lineReader) {
	select {
	case c.lead <- struct{}{}:
	default:
		go c.read(lines)
	}
}

// follow waits until this goroutine is to read on. It is false when there are
// enough that wait, or there is nothing more to read.
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

// wait waits until no call is under way, for at most the given time or until
// stop. It reports whether none is left.
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
