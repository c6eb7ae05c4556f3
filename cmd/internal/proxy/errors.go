package proxy

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"

	"github.com/mcp-pruner/mcp-pruner/fsm"
)

// unreachable answers with an error of the proxy's own when the upstream cannot be reached.
func (s *server) unreachable(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() == nil {
		s.emit(fsm.NewEvent("proxy.upstream_failed", "", fsm.Facts{"message": "the upstream cannot be reached: " + failure(err)}))
	}
	refuse(w, r, http.StatusBadGateway, "the upstream cannot be reached")
}

// failure says what kind of error a round trip ended with. It never returns an error's own text: those of net/http quote
// what the other side sent, which is a part of the conversation, and addresses, which may contain a key.
func failure(err error) string {
	var name *net.DNSError
	var certificate *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	var late net.Error
	var op *net.OpError
	switch {
	case errors.As(err, &name):
		return "its name cannot be resolved"
	case errors.As(err, &certificate):
		return "its certificate is not trusted"
	case errors.As(err, &record):
		return "it does not speak TLS"
	case errors.As(err, &late) && late.Timeout():
		return "it did not answer in time"
	case errors.As(err, &op) && op.Op == "dial":
		return "it refuses connections"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), op != nil:
		return "the connection was closed before the answer"
	}
	return "its answer is not HTTP, or the connection failed"
}
