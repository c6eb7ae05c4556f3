package proxy

import (
	"context"
	"io"
	"net/http"

	"github.com/mcp-pruner/mcp-pruner/tools/agent"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc/wire"
)

// Bytes kept of an answer to read its usage from. The answer is not delayed; its beginning and end are
// copied as it passes.
const (
	headBytes = 32 << 10
	tailBytes = 32 << 10
)

// listen records the usage of an answer as it passes. What a gateway refuses within a stream of status 200 was not answered. It cannot be
// sent once more, but its session is left alone if thinking in it was bound.
func (s *server) listen(res *http.Response) error {
	x, ok := res.Request.Context().Value(exchangeKey{}).(*exchange)
	if !ok || x.api.Counts || res.StatusCode != http.StatusOK {
		return nil
	}
	res.Body = &listener{ReadCloser: res.Body, packed: encodingOf(res.Header), done: func(text []byte) {
		u := wire.UsageIn(text)
		if wire.IsFailure(text, u) {
			if why := bound(text); why != "" && x.refused != nil {
				x.refused(why)
			}
			return
		}
		u.Subject = agent.SubjectOf(res.Request.Context())
		u.Session, u.API = x.session, x.api.Name
		u.Before, u.After, u.Cleared = x.outcome.Bill.Before, x.outcome.Bill.After, x.outcome.Results
		x.engine.Answered(context.WithoutCancel(res.Request.Context()), x.session, x.outcome, u.Read, u.Written, u.Input+u.Read+u.Written)
		x.usage(u)
	}}
	return nil
}

// listener keeps the beginning and end of the bytes read through it.
type listener struct {
	io.ReadCloser
	packed string
	head   []byte
	tail   []byte
	done   func([]byte)
	closed bool
}

// Read implements io.Reader.
func (l *listener) Read(p []byte) (int, error) {
	n, err := l.ReadCloser.Read(p)
	got := p[:n]
	if room := headBytes - len(l.head); room > 0 {
		take := min(room, len(got))
		l.head = append(l.head, got[:take]...)
		got = got[take:]
	}
	if l.tail = append(l.tail, got...); len(l.tail) > 2*tailBytes {
		l.tail = append(l.tail[:0], l.tail[len(l.tail)-tailBytes:]...)
	}
	return n, err
}

// Close implements io.Closer.
func (l *listener) Close() error {
	if !l.closed {
		l.closed = true
		l.done(l.text())
	}
	return l.ReadCloser.Close()
}

func (l *listener) text() []byte { return unpacked(append(l.head, l.tail...), l.packed) }
