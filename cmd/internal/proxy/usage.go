package proxy

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"regexp"
	"strconv"

	"mcp-pruner/tools/contextgc"
)

// usage is what the API said that a call used.
type usage = contextgc.Usage

// An answer is not held up to learn what it used: what passes is looked at, its
// beginning and its end.
const (
	headBytes = 64 << 10
	tailBytes = 64 << 10
)

// listen notes the usage of an answer as it passes.
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

// listener keeps the beginning and the end of what is read through it.
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
	plain, _ := io.ReadAll(io.LimitReader(z, 16<<20)) // a middle may be missing: what comes before it is read
	return plain
}

// counts are the names under which APIs tell what a call used. Of several, the last
// counts: streams tell it again when they end.
var counts = regexp.MustCompile(`"(input_tokens|prompt_tokens|promptTokenCount|cache_creation_input_tokens|cache_read_input_tokens|` +
	`cached_tokens|cachedContentTokenCount|output_tokens|completion_tokens|candidatesTokenCount)"\s*:\s*(\d+)`)

var modelName = regexp.MustCompile(`"model(?:Version)?"\s*:\s*"([^"]{1,80})"`)

// usageIn finds what a call used in its answer, streamed or not.
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
	if inclusive { // OpenAI and Gemini count cached tokens among the input
		u.Read, u.Input = cached, max(0, u.Input-cached)
	}
	if m := modelName.FindSubmatch(text); m != nil {
		u.Model = string(m[1])
	}
	return u
}
