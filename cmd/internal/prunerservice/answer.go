package prunerservice

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"time"
	"unicode/utf8"
)

const (
	// maxAnswerBytes is the longest text recover_text returns at once, but for
	// whole originals: all that a request can bring, and every text that is small
	// enough to be pruned, numbered, too.
	maxAnswerBytes = maxBodyBytes
	// answerBudget is how many bytes of recovered text are held at once.
	answerBudget = 64 << 20
	// piece is how much of a long text is encoded and written at a time.
	piece = 64 << 10
)

// answer is one JSON-RPC answer. A tool's long text is encoded on its way out,
// and exists once.
type answer struct {
	before, after []byte
	text          string // between them: a JSON string within a JSON string
	weight        int64  // of the answers' budget, held until it is sent
}

// toolResult wraps a tool's answer as the document's servers do: JSON in a text.
type toolResult struct {
	answer any
	field  string // of answer, empty there: text belongs into it
	text   string
	weight int64
}

// answerOf renders an answer; one that cannot be rendered is an internal error.
func answerOf(id json.RawMessage, result any, failed *rpcError) answer {
	if id == nil {
		id = json.RawMessage("null")
	}
	var a answer
	var err error
	tool, isTool := result.(toolResult)
	switch {
	case failed != nil:
	case isTool:
		a, err = tool.render()
	default:
		a.before, err = encode(result)
	}
	if err != nil {
		failed = standard(codeInternalError)
	}
	member := "result"
	if failed != nil {
		member = "error"
		if a.before, err = encode(failed); err != nil {
			a.before, _ = encode(standard(codeInternalError))
		}
	}
	a.before = slices.Concat([]byte(`{"jsonrpc":"2.0","id":`), id, []byte(`,"`+member+`":`), a.before)
	a.after = append(a.after, '}')
	a.weight = tool.weight
	return a
}

// render encodes all but the long text.
func (r toolResult) render() (answer, error) {
	inner, err := encode(r.answer)
	if err != nil {
		return answer{}, err
	}
	before, after := inner, []byte(nil)
	if r.field != "" {
		at := bytes.Index(inner, []byte(`"`+r.field+`":""`)) + len(r.field) + len(`"":"`)
		before, after = inner[:at], inner[at:]
	}
	const head, tail = `{"content":[{"type":"text","text":"`, `"}],"isError":false}`
	return answer{
		before: append([]byte(head), quoted(before)...),
		text:   r.text,
		after:  append(quoted(after), tail...),
	}, nil
}

// send writes an answer, a long one when it is its turn.
func (s *server) send(ctx context.Context, w http.ResponseWriter, a answer) {
	header(w, http.StatusOK)
	soon, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	s.writing.do(soon, len(a.before)+len(a.text), func() {
		to := &patientWriter{w, http.NewResponseController(w), s.bodies.stall}
		_ = a.writeTo(to) // an error is the client's going away
		_ = to.control.SetWriteDeadline(time.Time{})
	})
}

func (a answer) writeTo(w io.Writer) error {
	out := bufio.NewWriterSize(w, piece)
	_, _ = out.Write(a.before)
	for text := a.text; text != ""; {
		n := cutAt(text, piece)
		encoded, err := encode(text[:n])
		if err != nil {
			return err
		}
		if _, err := out.Write(quoted(encoded[1 : len(encoded)-1])); err != nil {
			return err
		}
		text = text[n:]
	}
	_, _ = out.Write(a.after)
	return out.Flush()
}

// cutAt is where to cut off about n bytes, between two characters.
func cutAt(text string, n int) int {
	if len(text) <= n {
		return len(text)
	}
	for at := n; at > n-utf8.UTFMax; at-- {
		if utf8.RuneStart(text[at]) {
			return at
		}
	}
	return n // not UTF-8
}

// quoted escapes encoded JSON for a JSON string. Everything else that needs an
// escape has one already.
func quoted(encoded []byte) []byte {
	out := make([]byte, 0, len(encoded)+len(encoded)/16)
	for _, c := range encoded {
		if c == '"' || c == '\\' {
			out = append(out, '\\')
		}
		out = append(out, c)
	}
	return out
}

func encode(v any) ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}

// patientWriter gives up on a client that takes nothing.
type patientWriter struct {
	to      io.Writer
	control *http.ResponseController
	stall   time.Duration
}

func (w *patientWriter) Write(p []byte) (written int, err error) {
	for len(p) > 0 && err == nil {
		if err = w.control.SetWriteDeadline(time.Now().Add(w.stall)); err != nil {
			return written, err
		}
		var n int
		n, err = w.to.Write(p[:min(len(p), piece)])
		written, p = written+n, p[n:]
	}
	return written, err
}
