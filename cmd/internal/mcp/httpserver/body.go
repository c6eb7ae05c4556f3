package httpserver

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/mcp/mcpserver"
)

const (
	maxBodyBytes = mcpserver.MaxMessageBytes
	// bodyBudget is the number of bytes that request bodies take at once; further requests wait. It limits
	// memory when many large texts arrive together. The request beyond the budget has its own room.
	bodyBudget = 96<<20 - bodyCost*maxBodyBytes
	// bodyCost is the number of bytes of memory that a byte of a body takes: first in the body itself and in
	// the buffer that it outgrows, then in the body and in its decoded value, and in the end in that value and
	// in one copy that a tool makes of it.
	bodyCost = 2
	// freeBody is the number of bytes per request outside the budget, so that small calls never wait for
	// large ones.
	freeBody = 64 << 10
	// bodyWithin is the longest time for a whole body, unless configured.
	bodyWithin = 30 * time.Second
	// stall is the longest time in which a client may send nothing.
	stall = 10 * time.Second
)

// bodies allots the budget as bytes arrive. A length that a client only announces takes nothing from the
// budget.
type bodies struct {
	budget *semaphore.Weighted
	// over is held by the single request that may exceed the budget. When all requests wait for more, they
	// are thus finished one after the other.
	over chan struct{}

	stall  time.Duration
	within time.Duration // time limit for a whole body
}

func newBodies(within time.Duration) *bodies {
	return &bodies{budget: semaphore.NewWeighted(bodyBudget), over: make(chan struct{}, 1), stall: min(stall, within), within: within}
}

// share is the part of the budget that one request holds.
type share struct {
	*bodies
	bytes  int64
	beyond bool // holds over; its further bytes are not counted
}

// grow acquires n more bytes. It waits until the budget has room or this request may exceed it.
func (s *share) grow(ctx context.Context, n int64) error {
	s.bytes += n
	if s.beyond || s.budget.TryAcquire(n) {
		return nil
	}
	waiting, stop := context.WithCancel(ctx)
	room := make(chan error, 1)
	go func() { room <- s.budget.Acquire(waiting, n) }() // ends when waiting ends
	select {
	case err := <-room:
		stop()
		if err != nil {
			s.bytes -= n
		}
		return err
	case s.over <- struct{}{}:
	}
	stop()
	if <-room == nil {
		<-s.over
		return nil
	}
	s.budget.Release(s.bytes - n)
	s.beyond = true
	s.settle()
	return nil
}

// settle moves a request that exceeded the budget back into it, if there is room now.
func (s *share) settle() {
	if s.beyond && s.budget.TryAcquire(s.bytes) {
		s.beyond = false
		<-s.over
	}
}

func (s *share) release() {
	if s.beyond {
		<-s.over
		return
	}
	s.budget.Release(s.bytes)
}

// receive reads the body within the budget shared by all requests and calls use, or calls refuse with the
// reason.
func (b *bodies) receive(w http.ResponseWriter, r *http.Request, use func(body []byte), refuse func(*fault)) {
	held := &share{bodies: b}
	defer held.release()
	body, err := held.read(w, r)
	var over *http.MaxBytesError
	switch {
	case err == nil:
		use(body)
	case errors.As(err, &over):
		refuse(&fault{http.StatusRequestEntityTooLarge, "payload_too_large", "the body is larger than 32 MiB"})
	case errors.Is(err, os.ErrDeadlineExceeded):
		refuse(&fault{http.StatusRequestTimeout, "request_timeout", "the body took too long"})
	default:
		refuse(&fault{http.StatusBadRequest, "bad_request", "the body ended early"})
	}
}

// read reads a body into a buffer that grows with it.
func (s *share) read(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	size := r.ContentLength
	switch {
	case size > maxBodyBytes:
		return nil, &http.MaxBytesError{Limit: maxBodyBytes}
	case size < 0:
		size = maxBodyBytes + 1 // one more byte, to detect a body that is too large
	}
	w.Header().Set("Connection", "close") // removed when the body was read to its end
	from := &patientReader{http.MaxBytesReader(w, r.Body, maxBodyBytes), http.NewResponseController(w), s.stall, time.Now().Add(s.within)}
	body := make([]byte, 0, min(size, freeBody))
	for int64(len(body)) < size {
		if len(body) == cap(body) {
			start := time.Now()
			var err error
			if body, err = s.enlarge(r.Context(), body, size); err != nil {
				return nil, err
			}
			from.until = from.until.Add(time.Since(start)) // time spent waiting for the budget does not count against the client
		}
		n, err := from.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
	}
	if int64(len(body)) < r.ContentLength {
		return nil, io.ErrUnexpectedEOF
	}
	w.Header().Del("Connection")
	s.settle()
	_ = from.control.SetReadDeadline(time.Time{}) // otherwise a long call would look like a client that hung up
	return body, nil
}

// enlarge makes room in a full buffer: it doubles the buffer or, if that is at least half of the announced
// size, allocates all of it.
func (s *share) enlarge(ctx context.Context, body []byte, size int64) ([]byte, error) {
	next := 2 * int64(len(body))
	if next >= size/2 {
		next = size
	}
	if err := s.grow(ctx, bodyCost*(next-freeBody)-s.bytes); err != nil {
		return nil, err
	}
	return append(make([]byte, 0, next), body...), nil
}

// patientReader sets a deadline for each read and one for all reads together.
type patientReader struct {
	io.Reader
	control *http.ResponseController
	stall   time.Duration
	until   time.Time
}

func (r *patientReader) Read(p []byte) (int, error) {
	deadline := time.Now().Add(r.stall)
	if r.until.Before(deadline) {
		deadline = r.until
	}
	_ = r.control.SetReadDeadline(deadline) // fails only without a connection, which has no deadline either
	return r.Reader.Read(p)
}
