package web

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"
)

const (
	// heldPerByte is the number of bytes of memory that a byte of a text takes: first in the text itself and in the buffer
	// that it outgrows, then in the text and in what is made of it.
	heldPerByte = 2
	// freeBytes of each text are outside the budget, so that small requests never wait for large ones.
	freeBytes = 64 << 10
	// quickBytes is the largest text, of those whose size is known, that is copied in two steps only.
	quickBytes = 4 << 20
	// keepWithin is the longest time for which a text waits that is there already.
	keepWithin = 2 * time.Second
)

// Budget limits the memory that requests take together. It allots bytes as they arrive or are made: a length that a client only
// announces takes nothing. A subject may hold as much as then remains for the others; the machine's owner, whose subject is
// "", may hold all.
type Budget struct {
	stall, within time.Duration

	mu       sync.Mutex
	free     int64
	accounts map[string]*account // by subject
	beyond   *Hold               // the only request that may exceed the budget: when all wait for more, they are finished one after the other
	waiting  []*waiter
}

// account is what the requests of one subject hold.
type account struct {
	counted  int64 // bytes, without those of the request that exceeds the budget
	requests int
	over     *Hold // the request that exceeded the budget and goes on without that place; nil: there is none
}

// waiter is a request that asks for more.
type waiter struct {
	*Hold
	more int64
	in   chan struct{} // closed when it got them
}

// NewBudget returns a budget. A client may take as long as within to send a body, and may pause for as long as stall.
func NewBudget(bytes int64, stall, within time.Duration) *Budget {
	return &Budget{free: bytes, stall: min(stall, within), within: within, accounts: map[string]*account{}}
}

// Hold is the part of a budget that one request has taken. Only one goroutine may use it at a time.
type Hold struct {
	budget  *Budget
	subject string
	*account
	bytes int64
}

// Hold returns the hold of a subject's request. It has nothing yet.
func (b *Budget) Hold(subject string) *Hold { return &Hold{budget: b, subject: subject} }

// Grow takes more bytes. It waits until the budget has room or this request may exceed it, or until ctx ends.
func (h *Hold) Grow(ctx context.Context, more int64) error {
	b, w := h.budget, &waiter{h, more, make(chan struct{})}
	b.mu.Lock()
	if h.account == nil {
		if b.accounts[h.subject] == nil {
			b.accounts[h.subject] = &account{}
		}
		h.account = b.accounts[h.subject]
		h.requests++
	}
	b.waiting = append(b.waiting, w)
	b.admit()
	b.mu.Unlock()
	select {
	case <-w.in:
		return nil
	case <-ctx.Done():
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if i := slices.Index(b.waiting, w); i >= 0 {
		b.waiting = slices.Delete(b.waiting, i, i+1)
		return ctx.Err()
	}
	return nil
}

// Keep takes the bytes of a whole text that is there already, so that it waits for a moment only.
func (h *Hold) Keep(ctx context.Context, bytes int) error {
	if bytes <= freeBytes {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, keepWithin)
	defer cancel()
	return h.Grow(ctx, int64(bytes))
}

// Release gives everything back.
func (h *Hold) Release() {
	h.Shrink(0)
	b := h.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	if h.account == nil {
		return
	}
	if b.beyond == h {
		b.beyond = nil
	}
	if h.over == h {
		h.over = nil
	}
	if h.requests--; h.requests == 0 {
		delete(b.accounts, h.subject)
	}
	h.account = nil
	b.admit()
}

// Shrink gives back all but a number of bytes.
func (h *Hold) Shrink(bytes int64) {
	b := h.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	if h.account == nil || h.bytes <= bytes {
		return
	}
	if !b.exceeds(h) {
		b.take(h, bytes-h.bytes)
	}
	h.bytes = bytes
	b.admit()
}

// exceeds reports whether a request that holds something is outside the budget.
func (b *Budget) exceeds(h *Hold) bool { return b.beyond == h || h.over == h }

// settle is called when a text is whole. If its request exceeds the budget and is not over soon, as a call that waits for a person, it
// leaves the place to other subjects, but not to its own.
func (h *Hold) settle() {
	b := h.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.beyond != h {
		return
	}
	time.AfterFunc(keepWithin, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.beyond == h {
			b.beyond, h.over = nil, h
			b.admit()
		}
	})
}

// admit lets those go on who find room. When nobody exceeds the budget, one of the others may: the first of the subject with
// the fewest requests, so that the many of one subject wait for each other.
func (b *Budget) admit() {
	b.waiting = slices.DeleteFunc(b.waiting, func(w *waiter) bool {
		if !b.exceeds(w.Hold) && !b.take(w.Hold, w.more) {
			return false
		}
		w.bytes += w.more
		close(w.in)
		return true
	})
	if b.beyond != nil && b.take(b.beyond, b.beyond.bytes) {
		b.beyond = nil
	}
	may := slices.DeleteFunc(slices.Clone(b.waiting), func(w *waiter) bool { return w.over != nil })
	if b.beyond == nil && len(may) > 0 {
		b.beyond = slices.MinFunc(may, func(x, y *waiter) int { return cmp.Compare(x.requests, y.requests) }).Hold
		b.take(b.beyond, -b.beyond.bytes)
		b.admit()
	}
}

// take counts bytes, if the budget has room for them.
func (b *Budget) take(h *Hold, bytes int64) bool {
	rest := b.free - bytes
	if bytes > 0 && (rest < 0 || h.subject != "" && h.counted+bytes > rest) {
		return false
	}
	b.free, h.counted = rest, h.counted+bytes
	return true
}

// ReadAll reads to the end, but at most size bytes, into a buffer that grows with them. With an error it returns what it read.
func (h *Hold) ReadAll(ctx context.Context, from io.Reader, size int64) (text []byte, err error) {
	text = make([]byte, 0, min(size, freeBytes))
	for err == nil && int64(len(text)) < size {
		if len(text) == cap(text) {
			next := min(2*int64(len(text)), size)
			if size <= quickBytes {
				next = min(8*int64(len(text)), size)
			}
			if err := h.Grow(ctx, heldPerByte*(next-int64(len(text)))); err != nil {
				return text, err
			}
			text = append(make([]byte, 0, next), text...)
		}
		var n int
		n, err = from.Read(text[len(text):cap(text)])
		text = text[:len(text)+n]
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return text, err
}

// ReadBody reads a request's body as [Hold.ReadAll] does, within the budget's time limits, which begin anew with each request.
func (h *Hold) ReadBody(w http.ResponseWriter, r *http.Request, size int64) ([]byte, error) {
	from := &patientReader{r.Body, http.NewResponseController(w), h.budget.stall, h.budget.within}
	body, err := h.ReadAll(r.Context(), from, size)
	if err == nil {
		_ = from.control.SetReadDeadline(time.Time{}) // otherwise a long call would look like a client that hung up
		h.settle()
	}
	return body, err
}

// patientReader sets a deadline for each read and one for all reads together, without the time between them.
type patientReader struct {
	io.Reader
	control     *http.ResponseController
	stall, left time.Duration
}

func (r *patientReader) Read(p []byte) (int, error) {
	start := time.Now()
	_ = r.control.SetReadDeadline(start.Add(min(r.stall, r.left))) // fails only without a connection, which has no deadline either
	n, err := r.Reader.Read(p)
	r.left -= time.Since(start)
	return n, err
}
