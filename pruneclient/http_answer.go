package pruneclient

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"unicode/utf8"
)

const (
	maxAnswerBytes = 16 << 20
	// maxAnswerDepth is the limit of encoding/json's Decode; its Token has none.
	maxAnswerDepth = 10000
)

// answerFields are the fields in which services return the pruned text, in order of preference.
var answerFields = [...]string{"pruned_code", "content", "text"}

// readAnswer returns the pruned text of an answer, or an *Error that names the kind of failure without
// quoting the service.
func readAnswer(resp *http.Response) (string, error) {
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return "", &Error{HTTPError, fmt.Sprintf("the pruner answered HTTP %d", resp.StatusCode)}
	}
	if resp.StatusCode == http.StatusNoContent {
		return "", &Error{InvalidResponse, "the pruner answered HTTP 204 without a body"}
	}
	body := &answerBody{from: resp.Body}
	text, err := decodeAnswer(body)
	// An error of the transfer explains an error of the JSON and takes precedence over it, so the body is
	// read to its end first.
	_, _ = io.Copy(io.Discard, body)
	switch {
	case errors.Is(body.failed, errTooLarge):
		return "", &Error{InvalidResponse, fmt.Sprintf("the answer is larger than %d MiB", maxAnswerBytes>>20)}
	case body.failed != nil:
		return "", &Error{HTTPError, "the answer ended early"}
	case body.badUTF8():
		return "", &Error{InvalidResponse, "the answer is not UTF-8"}
	case err != nil:
		return "", &Error{InvalidResponse, err.Error()}
	}
	return text, nil
}

// decodeAnswer reads one JSON object token by token, so that unneeded fields are never held in memory
// (token_scores is ten times the text). Its errors are fixed sentences.
func decodeAnswer(body io.Reader) (string, error) {
	dec := json.NewDecoder(body)
	dec.UseNumber() // 1e999 is valid JSON, but no float64
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return "", errors.New("the answer is not a JSON object")
	}
	texts, err := decodeObject(dec)
	if err != nil {
		return "", err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return "", errors.New("the answer goes on after its JSON object")
	}
	for _, name := range answerFields {
		if text, ok := texts[name]; ok {
			return text, nil
		}
	}
	return "", errors.New("the answer has none of pruned_code, content and text as a string")
}

// decodeObject returns the answer fields of the top-level object that are strings. If a field occurs twice,
// the last one counts, as in most JSON parsers.
func decodeObject(dec *json.Decoder) (map[string]string, error) {
	texts := map[string]string{}
	for dec.More() {
		key, err := nextKey(dec)
		if err != nil {
			return nil, err
		}
		value, err := nextValue(dec)
		if err != nil {
			return nil, err
		}
		if !isAnswerField(key) {
			continue
		}
		delete(texts, key)
		if text, ok := value.(string); ok {
			texts[key] = text
		}
	}
	if _, err := dec.Token(); err != nil {
		return nil, errNotJSON
	}
	return texts, nil
}

var (
	errNotJSON  = errors.New("the answer is not valid JSON")
	errTooDeep  = fmt.Errorf("the answer is nested deeper than %d levels", maxAnswerDepth)
	errTooLarge = errors.New("answer too large")
)

func nextKey(dec *json.Decoder) (string, error) {
	t, err := dec.Token()
	key, ok := t.(string)
	if err != nil || !ok {
		return "", errNotJSON
	}
	return key, nil
}

// nextValue returns the next value if it is a scalar, and skips it if it is an array or an object.
func nextValue(dec *json.Decoder) (any, error) {
	t, err := dec.Token()
	if err != nil {
		return nil, errNotJSON
	}
	if _, open := t.(json.Delim); open {
		return nil, skip(dec)
	}
	return t, nil
}

// skip reads to the end of the array or object that was just opened in the top-level object.
func skip(dec *json.Decoder) error {
	for depth := 2; depth > 1; {
		t, err := dec.Token()
		if err != nil {
			return errNotJSON
		}
		switch t {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if depth > maxAnswerDepth {
			return errTooDeep
		}
	}
	return nil
}

func isAnswerField(key string) bool {
	for _, name := range answerFields {
		if key == name {
			return true
		}
	}
	return false
}

// answerBody passes a body on up to the limit and records two facts that the JSON decoder does not report:
// whether the transfer failed, and whether the bytes were UTF-8 (the decoder silently replaces invalid
// ones).
type answerBody struct {
	from   io.Reader
	read   int
	failed error // the read error other than io.EOF, or nil
	split  []byte
	bad    bool
}

func (b *answerBody) Read(p []byte) (int, error) {
	if b.failed != nil {
		return 0, b.failed
	}
	n, err := b.from.Read(p)
	b.read += n
	b.checkUTF8(p[:n])
	if b.read > maxAnswerBytes {
		err = errTooLarge
	}
	if err != nil && !errors.Is(err, io.EOF) {
		b.failed = err
	}
	return n, err
}

// checkUTF8 validates the stream piece by piece. A rune cut by the end of a piece is kept in split until
// the rest arrives.
func (b *answerBody) checkUTF8(p []byte) {
	for len(b.split) > 0 && len(p) > 0 && !utf8.FullRune(b.split) {
		b.split, p = append(b.split, p[0]), p[1:]
	}
	if len(b.split) > 0 && utf8.FullRune(b.split) {
		b.bad = b.bad || !utf8.Valid(b.split)
		b.split = b.split[:0]
	}
	whole := len(p) - cutRune(p)
	b.bad = b.bad || !utf8.Valid(p[:whole])
	b.split = append(b.split, p[whole:]...)
}

// badUTF8 reports whether the body was invalid UTF-8. It must be called after the body's end.
func (b *answerBody) badUTF8() bool { return b.bad || len(b.split) > 0 }

// cutRune returns the number of bytes at the end of p that start an incomplete rune.
func cutRune(p []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(p); n++ {
		tail := p[len(p)-n:]
		if utf8.RuneStart(tail[0]) {
			if utf8.FullRune(tail) {
				return 0
			}
			return n
		}
	}
	return 0
}
