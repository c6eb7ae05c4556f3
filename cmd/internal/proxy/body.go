package proxy

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// maxBody is the size in bytes of the largest request that is parsed; larger ones pass through.
const maxBody = 64 << 20

// readBody reads a request's body. rest reports that the body is too large: it is then restored and passes
// through.
func readBody(r *http.Request) (body []byte, rest bool, err error) {
	if r.ContentLength > maxBody {
		return nil, true, nil
	}
	var buf bytes.Buffer
	if r.ContentLength > 0 {
		buf.Grow(int(r.ContentLength) + bytes.MinRead)
	}
	_, err = buf.ReadFrom(io.LimitReader(r.Body, maxBody+1))
	if err == nil && buf.Len() <= maxBody {
		return buf.Bytes(), false, nil
	}
	// A body that the client did not send completely must not look complete to the upstream.
	tail := io.Reader(r.Body)
	if err != nil {
		tail = failing{err}
	}
	r.Body = readCloser{io.MultiReader(bytes.NewReader(buf.Bytes()), tail), r.Body}
	return nil, true, err
}

// readCloser reads from one and closes the other.
type readCloser struct {
	io.Reader
	io.Closer
}

type failing struct{ err error }

// Read implements io.Reader.
func (f failing) Read([]byte) (int, error) { return 0, f.err }

// decoded returns a body without its compression. ok is false for an unknown compression, and for a body that is larger than
// maxBody without it.
func decoded(r *http.Request, body []byte) (plain []byte, ok bool) {
	packed := bytes.NewReader(body)
	switch encodingOf(r.Header) {
	case "", "identity":
		return body, true
	case "gzip":
		z, err := gzip.NewReader(packed)
		if err != nil {
			return nil, false
		}
		return limited(z)
	case "zstd":
		z, err := zstd.NewReader(packed, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return nil, false
		}
		defer z.Close()
		return limited(z)
	}
	return nil, false
}

// maxWindow bounds the memory of a decoder of zstd, whose input may ask for more than 2 GB. Decoders have to support 8 MiB.
const maxWindow = 8 << 20

// limited reads to the end, but no more than maxBody.
func limited(z io.Reader) (plain []byte, ok bool) {
	plain, err := io.ReadAll(io.LimitReader(z, maxBody+1))
	return plain, err == nil && len(plain) <= maxBody
}

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
	plain, z := []byte(nil), io.Reader(nil)
	switch encoding {
	case "":
		return part
	case "gzip":
		if r, err := gzip.NewReader(bytes.NewReader(part)); err == nil {
			z = r
		}
	case "zstd":
		if r, err := zstd.NewReader(bytes.NewReader(part), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow)); err == nil {
			defer r.Close()
			z = r
		}
	}
	if z != nil {
		plain, _ = io.ReadAll(io.LimitReader(z, 16<<20))
	}
	return plain
}
