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
	// maxAnswerDepth is what encoding/json decodes; its tokens alone know no limit.
	maxAnswerDepth = 10000
)

// answerFields are where services put the pruned text, best first.
var answerFields = [...]string{"pruned_code", "content", "text"}

// readAnswer returns the pruned text of one answer, or an *Error that says what
// kind of failure it is without quoting the service.
func readAnswer(resp *http.Response) (string, error) {
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return "", &Error{HTTPError, fmt.Sprintf("the pruner answered HTTP %d", resp.StatusCode)}
	}
	if resp.StatusCode == http.StatusNoContent {
		return "", &Error{InvalidResponse, "the pruner answered HTTP 204 without a body"}
	}
	body := &answerBody{from: resp.Body}
	text, err := decodeAnswer(body)
	// What went wrong with the transfer explains, and outranks, what went wrong
	// with the JSON; so read on to the end before judging.
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

// decodeAnswer reads one JSON object token by token, so that what nobody asked
// for (token_scores is ten times the text) is never built in memory. Its errors
// are fixed sentences.
func decodeAnswer(body io.Reader) (string, error) {
	dec := json.NewDecoder(body)
	dec.UseNumber() // 1e999 is JSON, though no float64
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

// decodeObject returns those answer fields of the top-level object that are
// strings. Of a field that comes twice the last counts, as to most readers of JSON.
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

// nextValue returns the next value when it is a scalar and skips it when it is
// an array or an object.
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

// skip reads to the end of the array or object just opened in the top-level one.
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

// answerBody passes a body on up to the limit and remembers what the JSON
// decoder does not tell: whether the transfer failed, and whether the bytes
// were UTF-8 (the decoder would quietly replace what is not).
type answerBody struct {
	from   io.Reader
	read   int
	failed error // neither nil nor io.EOF
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

// checkUTF8 validates the stream piece by piece; a rune cut by the end of a
// piece waits in split for its rest.
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

// badUTF8 reports on the whole body; call it after its end.
func (b *answerBody) badUTF8() bool { return b.bad || len(b.split) > 0 }

// cutRune returns how many bytes at the end of p begin a rune that p does not
// finish.
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
