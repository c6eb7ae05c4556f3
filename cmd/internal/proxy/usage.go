package proxy

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"regexp"
	"strconv"

	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
)

// usage is the token counts that the API reported for a call.
type usage = contextgc.Usage

// Bytes kept of an answer to read its usage from. The answer is not delayed; its beginning and end are
// copied as it passes.
const (
	headBytes = 64 << 10
	tailBytes = 64 << 10
)

// listen records the usage of an answer as it passes.
func (s *server) listen(res *http.Response) error {
	x, ok := res.Request.Context().Value(exchangeKey{}).(*exchange)
	if !ok || x.api.counts || res.StatusCode != http.StatusOK {
		return nil
	}
	res.Body = &listener{ReadCloser: res.Body, packed: res.Header.Get("Content-Encoding"), done: func(text []byte) {
		u := usageIn(text)
		u.Session, u.API = x.outcome.session, x.api.name
		u.Before, u.After, u.Cleared = x.outcome.bill.Before, x.outcome.bill.After, x.outcome.cleared
		s.usage(u)
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

func (l *listener) text() []byte {
	all := append(l.head, l.tail...)
	if l.packed == "" {
		return all
	}
	z, err := gzip.NewReader(bytes.NewReader(all))
	if l.packed != "gzip" || err != nil {
		return nil
	}
	plain, _ := io.ReadAll(io.LimitReader(z, 16<<20)) // the middle may be missing; the text before it is used
	return plain
}

// counts matches the APIs' names for token counts. If a name occurs several times, the last one counts:
// streams repeat it at their end.
var counts = regexp.MustCompile(`"(input_tokens|prompt_tokens|promptTokenCount|cache_creation_input_tokens|cache_read_input_tokens|` +
	`cached_tokens|cachedContentTokenCount|output_tokens|completion_tokens|candidatesTokenCount)"\s*:\s*(\d+)`)

var modelName = regexp.MustCompile(`"model(?:Version)?"\s*:\s*"([^"]{1,80})"`)

// usageIn extracts the token counts from an answer, streamed or not.
func usageIn(text []byte) usage {
	var u usage
	inclusive, cached := false, 0
	for _, m := range counts.FindAllSubmatch(text, -1) {
		n, err := strconv.Atoi(string(m[2]))
		if err != nil {
			continue
		}
		switch string(m[1]) {
		case "input_tokens":
			u.Input = n
		case "prompt_tokens", "promptTokenCount":
			u.Input, inclusive = n, true
		case "cache_creation_input_tokens":
			u.Written = n
		case "cache_read_input_tokens":
			u.Read = n
		case "cached_tokens", "cachedContentTokenCount":
			cached, inclusive = n, true
		default:
			u.Output = n
		}
	}
	if inclusive { // OpenAI and Gemini include cached tokens in the input
		u.Read, u.Input = cached, max(0, u.Input-cached)
	}
	if m := modelName.FindSubmatch(text); m != nil {
		u.Model = string(m[1])
	}
	return u
}
