package httpserver

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"time"

	"golang.org/x/sync/semaphore"

	"mcp-pruner/cmd/internal/mcpserver"
)

const (
	maxBodyBytes = mcpserver.MaxMessageBytes
	// bodyBudget is how many bytes of requests are held at once; more wait. It is
	// what keeps memory bounded when many large texts arrive together.
	bodyBudget = 128 << 20
	// freeBody is what every request may hold without asking: small calls wait for
	// no large one.
	freeBody = 64 << 10
	// stall is how long a client may send nothing.
	stall = 10 * time.Second
)

// bodies shares the budget out as bytes come: what a client only announces costs
// nobody anything.
type bodies struct {
	budget *semaphore.Weighted
	// over is held by the one request that may go on beyond the budget, so that
	// requests which all wait for more get done one after the other.
	over chan struct{}

	stall  time.Duration
	within time.Duration // for a whole body
}

func newBodies(within time.Duration) *bodies {
	return &bodies{budget: semaphore.NewWeighted(bodyBudget), over: make(chan struct{}, 1), stall: min(stall, within), within: within}
}

// share is what one request holds of the budget.
type share struct {
	*bodies
	bytes  int64
	beyond bool // holds over; bytes are not counted
}

// grow asks for n bytes more: there is room, or will be, or it is this request's
// turn to go on without.
func (s *share) grow(ctx context.Context, n int64) error {
	s.bytes += n
	if s.beyond || s.budget.TryAcquire(n) {
		return nil
	}
	waiting, stop := context.WithCancel(ctx)
	room := make(chan error, 1)
	go func() { room <- s.budget.Acquire(waiting, n) }() // ends with waiting
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

// settle moves back into the budget if there is room by now.
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

// withBody reads the body within the budget of all requests and hands it on, or
// hands on why it is refused.
func (h *Handler) withBody(w http.ResponseWriter, r *http.Request, use func(body []byte), refuse func(*fault)) {
	held := &share{bodies: h.bodies}
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

// read reads a body into memory that grows with it.
func (s *share) read(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	size := r.ContentLength
	switch {
	case size > maxBodyBytes:
		return nil, &http.MaxBytesError{Limit: maxBodyBytes}
	case size < 0:
		size = maxBodyBytes + 1 // room to see the end of the largest
	}
	w.Header().Set("Connection", "close") // unless all goes well
	from := &patientReader{http.MaxBytesReader(w, r.Body, maxBodyBytes), http.NewResponseController(w), s.stall, time.Now().Add(s.within)}
	body := make([]byte, 0, min(size, freeBody))
	for int64(len(body)) < size {
		if len(body) == cap(body) {
			start := time.Now()
			var err error
			if body, err = s.enlarge(r.Context(), body, size); err != nil {
				return nil, err
			}
			from.until = from.until.Add(time.Since(start)) // we kept the client waiting
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
	_ = from.control.SetReadDeadline(time.Time{}) // a long call is no client that hung up
	return body, nil
}

// enlarge makes room in a full buffer: twice as much, or all of a body that has
// shown that it is on its way.
func (s *share) enlarge(ctx context.Context, body []byte, size int64) ([]byte, error) {
	next := 2 * int64(len(body))
	if next >= size/2 {
		next = size
	}
	if err := s.grow(ctx, next-freeBody-s.bytes); err != nil {
		return nil, err
	}
	return append(make([]byte, 0, next), body...), nil
}

// patientReader gives every read a deadline, and all of them together one.
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
	_ = r.control.SetReadDeadline(deadline) // no connection, no deadline
	return r.Reader.Read(p)
}
