package connect

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
)

// maxErrorLine is the length in bytes of the longest message that is looked at. Longer ones are results.
const maxErrorLine = 64 << 10

// maxReceived is the number of bytes that one message of a server may have: a result of 50 MB has twice as many if all is escaped.
const maxReceived = 128 << 20

// errTooLong is the error of a server that ends no message.
var errTooLong = fmt.Errorf("it sent a message of more than %d MiB", maxReceived>>20)

// maxNesting is how deeply a message may be nested. Its decoder takes no more.
const maxNesting = 10_000

// errTooDeep is the error of a message that is nested too deeply.
var errTooDeep = fmt.Errorf("it sent a message that is nested more than %d deep", maxNesting)

// maxTold is how many parts a server's notification or question may have, which the transport decodes, each into many times its bytes.
const maxTold = 1 << 18

// errTooMany is the error of a notification or question with more.
var errTooMany = fmt.Errorf("it sent a message, no answer, of more than %d parts", maxTold)

// headBytes is the length of the beginning of a message in which its id is looked for.
const headBytes = 200

// form says where a message of a server ends.
type form int

const (
	byLine  form = iota // with its line
	byEvent             // with an empty line
	byBody              // with what is read
)

// readable passes on what a server writes, a message on each line, in the form that the transport can read: an error that it
// cannot decode would be dropped, and the call would never be answered.
type readable struct {
	in   *bufio.Reader
	id   json.RawMessage // of the only request that is answered there; nil: there may be several
	rest []byte          // of what was read
	err  error
	long bool // the rest of a long line follows

	form  form
	head  []byte // of the message
	size  int    // of the message so far
	depth nesting
	most  int             // maxReceived
	lost  func(why error) // called for a message that cannot be passed on or answered; nil: nothing is
}

func newReadable(in io.Reader, id json.RawMessage, f form) *readable {
	return &readable{in: bufio.NewReaderSize(in, maxErrorLine), id: id, form: f, most: maxReceived}
}

// Read implements io.Reader.
func (r *readable) Read(b []byte) (int, error) {
	if len(r.rest) == 0 {
		if r.err != nil {
			return 0, r.err
		}
		line, err := r.in.ReadSlice('\n')
		whole := !r.long && err != bufio.ErrBufferFull
		if r.size == 0 {
			r.head, r.depth = append(r.head[:0], line[:min(len(line), headBytes)]...), nesting{}
		}
		r.size += len(line)
		if r.depth.read(line); r.size > r.most || r.depth.most > maxNesting || r.tells() {
			line, err = r.refuse(err)
			whole = false
		} else if err == nil && (r.form == byLine || r.form == byEvent && whole && len(bytes.TrimSpace(line)) == 0) {
			r.size = 0
		}
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

// tells reports whether a message that is no answer has too many parts.
func (r *readable) tells() bool {
	if r.depth.parts <= maxTold {
		return false
	}
	_, others := idIn(bytes.TrimPrefix(r.head, []byte("data:")))
	return others
}

// refuse returns what takes the place of a message that is too long or too deep, and the error with which the server's output
// ends. A line that says early what it answers is read to its end, and answered; one that is no answer is left out. Of a stream of
// events the transport tells nobody why it broke off, so that the event is ended, which makes it unreadable, and the request is
// answered.
func (r *readable) refuse(err error) (answer []byte, end error) {
	if r.form == byLine && r.size <= r.most {
		id, others := idIn(r.head)
		for more := []byte(nil); err == bufio.ErrBufferFull && r.size <= r.most; r.size += len(more) {
			more, err = r.in.ReadSlice('\n')
		}
		if r.size <= r.most && (id != nil || others) {
			r.size = 0
			return fmt.Appendf(nil, "\n%s\n", refusal(id, errTooDeep)), err
		}
	}
	switch end = errTooDeep; {
	case r.size > r.most:
		end = errTooLong
	case r.depth.most <= maxNesting:
		end = errTooMany
	}
	if r.lost != nil {
		r.lost(end)
	}
	if r.form == byEvent && r.id != nil {
		return fmt.Appendf(nil, "\n\ndata: %s\n\n", refusal(r.id, end)), end
	}
	return nil, end
}

// refusal returns the answer to a request that has none else; id nil: nothing.
func refusal(id json.RawMessage, why error) string {
	if id == nil {
		return ""
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%q}}`, id, mcp.INTERNAL_ERROR, why)
}

// idIn returns the id of an answer that stands before what is too long for its head; nil: none does. others is true for a message that
// is no answer.
func idIn(head []byte) (id json.RawMessage, others bool) {
	d := json.NewDecoder(bytes.NewReader(head))
	for key, err := d.Token(); err == nil; key, err = d.Token() {
		var value json.RawMessage
		switch {
		case key == json.Delim('{'):
			continue
		case key == "method":
			return nil, true
		case d.Decode(&value) != nil:
			return id, false
		case key == "id":
			id = value
		}
	}
	return id, false
}

// nesting is how deep the parts of a message go, and about how many they are.
type nesting struct {
	depth, most   int
	parts         int
	text, escaped bool
}

func (n *nesting) read(part []byte) {
	for _, b := range part {
		switch {
		case n.escaped:
			n.escaped = false
		case n.text:
			n.escaped, n.text = b == '\\', b != '"'
		case b == '"':
			n.text = true
		case b == ',':
			n.parts++
		case b == '{' || b == '[':
			n.depth++
			n.parts++
			n.most = max(n.most, n.depth)
		case b == '}' || b == ']':
			n.depth--
		}
	}
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

// sentHead begins the requests that the transport sends, and the answers. A number follows, or any id of a server.
var sentHead = []byte(`{"jsonrpc":"2.0","id":`)

// takenWithin is how long a server may take for an answer to its question.
const takenWithin = 30 * time.Second

// sentID returns the number of a request that the transport sends, or whether it sends an answer.
func sentID(request *http.Request) (id json.RawMessage, answers bool) {
	if request.GetBody == nil {
		return nil, false
	}
	body, err := request.GetBody()
	if err != nil {
		return nil, false
	}
	defer body.Close()
	head, _ := io.ReadAll(io.LimitReader(body, 100))
	rest, found := bytes.CutPrefix(head, sentHead)
	id, rest, _ = bytes.Cut(rest, []byte(","))
	if found && bytes.HasPrefix(rest, []byte(`"method"`)) {
		return id, false
	}
	return nil, found
}

// RoundTrip implements http.RoundTripper.
func (readableHTTP) RoundTrip(request *http.Request) (*http.Response, error) {
	id, answers := sentID(request)
	if answers { // the transport sends an answer with the deadline that it set for the question, which may be over
		ctx, cancel := context.WithTimeout(context.WithoutCancel(request.Context()), takenWithin)
		defer cancel()
		request = request.WithContext(ctx)
	}
	answer, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	mayForget := answer.StatusCode == http.StatusNotFound || answer.StatusCode == http.StatusBadRequest // the session, without an id
	if mayForget {
		id = nil
	}
	ends := byBody
	if strings.HasPrefix(answer.Header.Get("Content-Type"), "text/event-stream") {
		ends = byEvent
	}
	lines := newReadable(answer.Body, id, ends)
	if strings.HasPrefix(answer.Header.Get("Content-Type"), "application/json") { // it may have several lines
		all, err := lines.in.Peek(maxErrorLine)
		message := new(bytes.Buffer)
		if err == io.EOF && bytes.Contains(all, []byte(`"error"`)) && json.Compact(message, all) == nil {
			var refusal transport.JSONRPCResponse
			if json.Unmarshal(readableLine(message.Bytes(), id), &refusal) == nil && refusal.Error != nil && mayForget {
				answer.StatusCode = http.StatusBadRequest // of 404 the transport would not read why
			}
			lines = newReadable(message, id, ends)
		}
	}
	answer.Body = struct {
		io.Reader
		io.Closer
	}{lines, answer.Body}
	return answer, nil
}
