package proxy

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/web"
)

// maxBody is the size in bytes of the largest request that is parsed; larger ones pass through.
const maxBody = 64 << 20

// Memory that the bodies of requests take together.
const (
	// bodyBudget is the number of bytes. Requests beyond it wait, those of a subject for each other, and one at a time may exceed it.
	bodyBudget = 2 * maxBody
	// parsedPerByte is the number of bytes that the places of the values of a body may take, per byte of it from smallBody on, up to
	// mostParsed.
	parsedPerByte, mostParsed = 12, 12 << 20
	// madePerValue is about the number of bytes of the turns, calls, results and marks that are made of a value.
	madePerValue           = 320
	smallBody, smallValues = 64 << 10, 1 << 10 // these never wait
	// A body that has more than largeUnpacked bytes without its compression, and more than mostPerByte for each that came, is no history.
	largeUnpacked, mostPerByte = 8 << 20, 100
	// roomWithin is how long a request waits for room.
	roomWithin = 10 * time.Second
	// bodyWithin is the longest time for a whole body, and bodyStall the longest pause in it.
	bodyWithin, bodyStall = 10 * time.Minute, time.Minute
)

// readBody reads a request's body. rest reports that the body is too large: it is then restored and passes
// through. ctx limits the wait for room.
func readBody(ctx context.Context, held *web.Hold, w http.ResponseWriter, r *http.Request) (body []byte, rest bool, err error) {
	if r.ContentLength > maxBody {
		return nil, true, nil
	}
	size := r.ContentLength
	if size < 0 {
		size = maxBody + 1
	}
	body, err = held.ReadBody(w, r.WithContext(ctx), size)
	if err == nil && len(body) > maxBody {
		r.Body = readCloser{io.MultiReader(bytes.NewReader(body), r.Body), r.Body}
		return nil, true, nil
	}
	return body, false, err
}

// takeParsed takes the memory to find the values of a body.
func takeParsed(ctx context.Context, held *web.Hold, body []byte) error {
	return held.Grow(ctx, min(parsedPerByte*max(0, int64(len(body))-smallBody), mostParsed))
}

// readCloser reads from one and closes the other.
type readCloser struct {
	io.Reader
	io.Closer
}

// takeMade returns a function that takes the memory of what is made of a number of values.
func takeMade(ctx context.Context, held *web.Hold) func(values int) error {
	return func(values int) error { return held.Grow(ctx, madePerValue*int64(max(0, values-smallValues))) }
}

// decoded returns a body without its compression. ok is false for an unknown compression, and for a body that is larger than
// maxBody without it, or larger than a history gets from so few bytes. err is that of a body that found no room.
func decoded(ctx context.Context, held *web.Hold, r *http.Request, body []byte) (plain []byte, ok bool, err error) {
	encoding := encodingOf(r.Header)
	if encoding == "" || encoding == "identity" {
		return body, true, nil
	}
	z := unpacker(encoding, body)
	if z == nil {
		return nil, false, nil
	}
	defer func() { _ = z.Close() }()
	most := min(maxBody, max(largeUnpacked, mostPerByte*len(body)))
	if plain, err = held.ReadAll(ctx, z, int64(most)+1); err != nil && ctx.Err() != nil {
		return nil, false, err
	}
	return plain, err == nil && len(plain) <= most, nil
}

// unpacker returns a reader that takes a compression away; nil for an unknown one, or where there is none.
func unpacker(encoding string, packed []byte) io.ReadCloser {
	switch encoding {
	case "gzip":
		if z, err := gzip.NewReader(bytes.NewReader(packed)); err == nil {
			return z
		}
	case "zstd":
		if z, err := zstd.NewReader(bytes.NewReader(packed), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow)); err == nil {
			return z.IOReadCloser()
		}
	}
	return nil
}

// maxWindow bounds the memory of a decoder of zstd, whose input may ask for more than 2 GB. Decoders have to support 8 MiB.
const maxWindow = 8 << 20

// setBody sets the request's body.
func setBody(r *http.Request, body []byte) {
	r.Body = io.NopCloser(bytes.NewReader(body))
	r.ContentLength = int64(len(body))
	r.TransferEncoding = nil
	r.Header.Set("Content-Length", strconv.Itoa(len(body)))
}

// packed returns a changed body in the compression in which [decoded] found the one that came.
func packed(r *http.Request, plain []byte) []byte {
	var out bytes.Buffer
	var z io.WriteCloser
	switch encodingOf(r.Header) {
	case "gzip":
		z = gzip.NewWriter(&out)
	case "zstd":
		z, _ = zstd.NewWriter(&out, zstd.WithEncoderConcurrency(1)) // fails for options only
	default:
		return plain
	}
	_, _ = z.Write(plain) // to memory
	_ = z.Close()
	return out.Bytes()
}

// encodingOf returns the compression that headers name, in small letters.
func encodingOf(h http.Header) string {
	return strings.ToLower(strings.Join(h.Values("Content-Encoding"), ","))
}

// unpacked returns a part of an answer without its compression, as far as that can be taken away: the middle may be missing, and
// then the text before it is used.
func unpacked(part []byte, encoding string) []byte {
	if encoding == "" {
		return part
	}
	z := unpacker(encoding, part)
	if z == nil {
		return nil
	}
	defer func() { _ = z.Close() }()
	plain, _ := io.ReadAll(io.LimitReader(z, 4<<20))
	return plain
}
