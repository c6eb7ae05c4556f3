package proxy

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"time"

	"github.com/mcp-pruner/mcp-pruner/states/clearing"
)

// again sends a request to the upstream. If that answers 400 to a body that was changed, again sends the request once more as it
// came, so that no change costs a client its request: an API may check what is unknown here, such as what thinking is bound to.
type again struct{ http.RoundTripper }

// received is a body as the client sent it, for a request that goes out with another one.
type received struct {
	body []byte
	sent func(clearing.Refusal) // is told that the body was sent after all; "": its change was not the reason of the refusal
}

type receivedKey struct{}

// with returns a request that again can send once more.
func (b *received) with(r *http.Request) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), receivedKey{}, b))
}

// maxRefusal is how much of an answer is searched for its reason, and refusalWithin how long its client waits for that. An answer that takes
// longer ends there.
const (
	maxRefusal    = 64 << 10
	refusalWithin = 3 * time.Second
)

// bindingWords stand in the message of Anthropic's API for thinking that is bound to something else than what stands before it.
const bindingWords = "bound to a different conversation"

// RoundTrip implements http.RoundTripper.
func (a again) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := a.RoundTripper.RoundTrip(r)
	b, changed := r.Context().Value(receivedKey{}).(*received)
	if err != nil || res.StatusCode != http.StatusBadRequest || !changed {
		return res, err
	}
	late := time.AfterFunc(refusalWithin, func() { _ = res.Body.Close() })
	reason, _ := io.ReadAll(io.LimitReader(res.Body, maxRefusal)) // what is missing of it names no reason
	late.Stop()
	second, err := a.RoundTripper.RoundTrip(b.in(r))
	if err != nil {
		res.Body = readCloser{io.MultiReader(bytes.NewReader(reason), res.Body), res.Body}
		return res, nil
	}
	_ = res.Body.Close() // nobody reads the rest
	why := bound(unpacked(reason, encodingOf(res.Header)))
	if why == "" && second.StatusCode != http.StatusBadRequest {
		why = clearing.Changed
	}
	b.sent(why)
	return second, nil
}

// bound returns BoundThinking if an error of the API says so.
func bound(text []byte) clearing.Refusal {
	if bytes.Contains(text, []byte(bindingWords)) {
		return clearing.BoundThinking
	}
	return ""
}

// in returns a request with the body.
func (b *received) in(r *http.Request) *http.Request {
	r = r.Clone(r.Context())
	setBody(r, b.body)
	return r
}
