package connect

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"strconv"
	"strings"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
)

// maxErrorLine is the length in bytes of the longest message that is looked at. Longer ones are results.
const maxErrorLine = 64 << 10

// readable passes on what a server writes, a message on each line, in the form that the transport can read: an error that it
// cannot decode would be dropped, and the call would never be answered.
type readable struct {
	in   *bufio.Reader
	id   json.RawMessage // of the only request that is answered there; nil: there may be several
	rest []byte          // of what was read
	err  error
	long bool // the rest of a long line follows
}

func newReadable(in io.Reader, id json.RawMessage) *readable {
	return &readable{in: bufio.NewReaderSize(in, maxErrorLine), id: id}
}

// Read implements io.Reader.
func (r *readable) Read(b []byte) (int, error) {
	if len(r.rest) == 0 {
		if r.err != nil {
			return 0, r.err
		}
		line, err := r.in.ReadSlice('\n')
		whole := !r.long && err != bufio.ErrBufferFull
		if r.long = err == bufio.ErrBufferFull; !r.long {
			r.err = err
		}
		if r.rest = line; whole {
			r.rest = readableLine(line, r.id)
		}
	}
	n := copy(b, r.rest)
	r.rest = r.rest[n:]
	if n == 0 {
		return 0, r.err
	}
	return n, nil
}

// readableLine returns a line with an error that can be decoded, and has an id. A line of a stream of events begins with "data:".
func readableLine(line []byte, id json.RawMessage) []byte {
	if !bytes.Contains(line, []byte(`"error"`)) {
		return line
	}
	message, event := bytes.CutPrefix(line, []byte("data:"))
	var response transport.JSONRPCResponse
	var members map[string]json.RawMessage
	if json.Unmarshal(message, &members) != nil || members["error"] == nil || members["method"] != nil {
		return line
	}
	known := members["id"] != nil && string(members["id"]) != "null"
	if json.Unmarshal(message, &response) == nil && (known || id == nil) {
		return line
	}
	members["error"] = readableError(members["error"])
	if !known && id != nil {
		members["id"] = id
	}
	fixed, err := json.Marshal(members)
	if err != nil {
		return line
	}
	if event {
		fixed = append([]byte("data:"), fixed...)
	}
	return append(fixed, '\n')
}

// readableError returns an error with an integer as its code and a text as its message. What cannot be kept of them stands in the
// message.
func readableError(raw json.RawMessage) json.RawMessage {
	var given struct {
		Code, Message, Data json.RawMessage
	}
	if json.Unmarshal(raw, &given) != nil {
		given.Message = raw // no object
	}
	var message string
	if json.Unmarshal(given.Message, &message) != nil {
		message = string(given.Message)
	}
	code, ok := integer(given.Code)
	switch {
	case ok:
	case given.Code != nil:
		message = fmt.Sprintf("%s (code %s)", message, given.Code)
		fallthrough
	default:
		code = mcp.INTERNAL_ERROR
	}
	fixed := map[string]any{"code": code, "message": message}
	if given.Data != nil {
		fixed["data"] = given.Data
	}
	encoded, _ := json.Marshal(fixed) // cannot fail for texts and what was JSON
	return encoded
}

// integer returns a code that is an integer in another spelling: -32000.0, -3.2e4, "-32000".
func integer(raw json.RawMessage) (int, bool) {
	text := string(raw)
	if unquoted, err := strconv.Unquote(text); err == nil {
		text = unquoted
	}
	code, err := strconv.ParseFloat(text, 64)
	return int(code), err == nil && code == math.Trunc(code) && math.Abs(code) < math.MaxInt32
}

// readableHTTP makes the answers of a server over HTTP readable.
type readableHTTP struct{}

// requestHead begins the requests that the transport sends. A number follows.
var requestHead = []byte(`{"jsonrpc":"2.0","id":`)

// RoundTrip implements http.RoundTripper.
func (readableHTTP) RoundTrip(request *http.Request) (*http.Response, error) {
	answer, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	var id json.RawMessage
	mayForget := answer.StatusCode == http.StatusNotFound || answer.StatusCode == http.StatusBadRequest // the session, without an id
	if request.GetBody != nil && !mayForget {
		if body, err := request.GetBody(); err == nil {
			head, _ := io.ReadAll(io.LimitReader(body, 100))
			_ = body.Close()
			if rest, found := bytes.CutPrefix(head, requestHead); found {
				id, _, _ = bytes.Cut(rest, []byte(",")) // before the method
			}
		}
	}
	lines := newReadable(answer.Body, id)
	if strings.HasPrefix(answer.Header.Get("Content-Type"), "application/json") { // it may have several lines
		all, err := lines.in.Peek(maxErrorLine)
		message := new(bytes.Buffer)
		if err == io.EOF && bytes.Contains(all, []byte(`"error"`)) && json.Compact(message, all) == nil {
			var refusal transport.JSONRPCResponse
			if json.Unmarshal(readableLine(message.Bytes(), id), &refusal) == nil && refusal.Error != nil && mayForget {
				answer.StatusCode = http.StatusBadRequest // of 404 the transport would not read why
			}
			lines = newReadable(message, id)
		}
	}
	answer.Body = struct {
		io.Reader
		io.Closer
	}{lines, answer.Body}
	return answer, nil
}
