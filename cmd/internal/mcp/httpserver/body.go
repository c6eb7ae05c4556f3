package httpserver

import (
	"errors"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/mcp/mcpserver"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/web"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

const (
	maxBodyBytes = mcpserver.MaxMessageBytes
	// bodyBudget is the number of bytes that request bodies take at once; further requests wait. It limits
	// memory when many large texts arrive together. The request beyond the budget has its own room, of two bytes
	// for each of its body.
	bodyBudget = 96<<20 - 2*maxBodyBytes
	// answerBudget is the number of bytes that answers take which are ready and not read yet.
	answerBudget = 128 << 20
	// bodyWithin is the longest time for a whole body, unless configured.
	bodyWithin = 30 * time.Second
	// stall is the longest time in which a client may send nothing, or take nothing of its answer.
	stall = 10 * time.Second
)

// receive reads the body within the budget shared by all requests and calls use, or calls refuse with the
// reason.
func (h *Handler) receive(w http.ResponseWriter, r *http.Request, use func(body []byte), refuse func(*fault)) {
	held := h.bodies.Hold(agent.SubjectOf(r.Context()))
	defer held.Release()
	body, err := read(held, w, r)
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

// read reads a whole body.
func read(held *web.Hold, w http.ResponseWriter, r *http.Request) ([]byte, error) {
	size := r.ContentLength
	switch {
	case size > maxBodyBytes:
		return nil, &http.MaxBytesError{Limit: maxBodyBytes}
	case size < 0:
		size = maxBodyBytes + 1 // one more byte, to detect a body that is too large
	}
	w.Header().Set("Connection", "close") // removed when the body was read to its end
	r.Body = http.MaxBytesReader(w, r.Body, maxBodyBytes)
	body, err := held.ReadBody(w, r, size)
	if err == nil && int64(len(body)) < r.ContentLength {
		err = io.ErrUnexpectedEOF
	}
	if err == nil {
		w.Header().Del("Connection")
	}
	return body, err
}
